/** Cross-origin headers of every response, and the response to a preflight request. */
import type { WholeReply } from '../ports/exchange.ts';
import { browserHeaders } from './request-headers.ts';
import type { Channel } from './servers/channel.ts';

export const allowOrigin = '*';
/** A browser hides other headers from pages. Those that clients act upon are named for browsers without the wildcard. */
export const exposedHeaders =
  'x-request-id, request-id, retry-after, x-should-retry, x-usage-seconds, x-usage-cost, x-stream-id, *';

const wellFormed = /^[\w!#$%&'*+.^`|~ ,-]{1,1024}$/;

export const preflight = (channel: Channel, methods: string): WholeReply => {
  const requested = channel.header('access-control-request-headers');
  return {
    kind: 'whole',
    status: 204,
    headers: {
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': wellFormed.test(requested) ? requested : browserHeaders,
      'access-control-max-age': '86400',
    },
    body: '',
  };
};
