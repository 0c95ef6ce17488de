/** Cross-origin headers of every response, and the response to a preflight request. */
import type { WholeReply } from '../ports/exchange.ts';
import { browserHeaders } from '../ports/request-headers.ts';
import type { Channel } from './channel.ts';

export const allowOrigin = '*';
/** A browser hides other headers from pages. By name: not every client knows the wildcard. */
export const exposedHeaders = [
  'x-request-id',
  'request-id',
  'retry-after',
  'x-should-retry',
  'x-usage-seconds',
  'x-usage-cost',
  'x-sluice-replica',
  'x-sluice-attempts',
  'x-sluice-queue-ms',
  'x-sluice-engine-ms',
  'x-sluice-overhead-ms',
  'x-sluice-cached-tokens',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'anthropic-ratelimit-requests-limit',
  'anthropic-ratelimit-requests-remaining',
  'anthropic-ratelimit-requests-reset',
  'allow',
  'accept-ranges',
  'content-range',
].join(', ');

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
