/** What browsers of any origin are told: the headers of every response, and the answer to a preflight. */
import type { WholeReply } from '../ports/exchange.ts';
import type { Channel } from './channel.ts';

export const allowOrigin = '*';
export const exposedHeaders = 'x-request-id, request-id, retry-after, x-usage-seconds, x-usage-cost';

const usualHeaders = 'authorization, x-api-key, content-type, anthropic-version, anthropic-beta';
const wellFormed = /^[\w!#$%&'*+.^`|~ ,-]{1,1024}$/;

export const preflight = (channel: Channel, methods: string): WholeReply => {
  const asked = channel.header('access-control-request-headers');
  return {
    kind: 'whole',
    status: 204,
    headers: {
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': wellFormed.test(asked) ? asked : usualHeaders,
      'access-control-max-age': '86400',
    },
    body: '',
  };
};
