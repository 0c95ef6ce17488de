/** Fetches addresses that clients give, on checked and pinned public addresses only. */
import type { Dispatcher } from 'undici';
import { ApiError, fail } from '../errors.ts';
import { checkUrl, type UrlRules } from './public-address.ts';
import type { Lookup } from './resolver.ts';

export interface GuardedFetchOptions extends UrlRules {
  /** Milliseconds until connected, until the answer begins, without a byte of it, and in all. */
  readonly timeouts?: Partial<Timeouts>;
  /** Resolver and trusted certificates other than the system's. */
  readonly lookup?: Lookup | undefined;
  readonly ca?: string;
}

export interface Timeouts {
  readonly connect: number;
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

interface GuardedRequest {
  readonly url: string;
  /** Field of the client's request that gave the address, named in every error. */
  readonly field: string;
  /** Each one is checked like the first address. With none, a redirect is an answer like any other. */
  readonly maxRedirects: number;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type GuardedResponse = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

export type GuardedFetch = <T>(
  request: GuardedRequest,
  signal: AbortSignal,
  read: (response: GuardedResponse) => Promise<T>,
) => Promise<T>;

const defaultTimeouts: Timeouts = { connect: 5_000, firstByte: 15_000, idle: 10_000, total: 60_000 };
const redirects = new Set([301, 302, 303, 307, 308]);

/** The answer is there to be read until `read` settles; then the connection is closed, whatever is left of it. */
export const createGuardedFetch = (options: GuardedFetchOptions): GuardedFetch => {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };

  return async (request, signal, read) => {
    const clock = AbortSignal.timeout(timeouts.total);
    const either = AbortSignal.any([signal, clock]);
    let address = request.url;
    try {
      // With the first address: what it imports takes 5 MB.
      const { clientFor } = await import('./guarded-client.ts');
      for (let left = request.maxRedirects; ; left--) {
        const url = checked(address, request.field, options);
        const client = clientFor(url, options, timeouts);
        try {
          const response = await client.request({ ...messageOf(request, url), signal: either });
          const next = request.maxRedirects > 0 ? redirectOf(response) : undefined;
          if (next === undefined) return await read(response);
          if (left === 0) throw fail('invalid_request', `${request.field} is redirected too often`);
          address = URL.canParse(next, url.href) ? new URL(next, url).href : next;
        } finally {
          await client.destroy();
        }
      }
    } catch (reason) {
      throw signal.aborted ? signal.reason : failureOf(reason, request.field, clock.aborted);
    }
  };
};

const checked = (address: string, field: string, rules: UrlRules): URL => {
  const result = checkUrl(address, rules);
  if ('problem' in result) throw fail('invalid_request', `${field} ${result.problem}`);
  return result.url;
};

const messageOf = ({ method = 'GET', headers, body }: GuardedRequest, url: URL) => ({
  method,
  path: `${url.pathname}${url.search}`,
  // What comes packed could unpack to anything, so it is asked for as it is.
  headers: { 'user-agent': 'Sluice/1.4', accept: '*/*', 'accept-encoding': 'identity', ...headers },
  body: body ?? null,
});

const redirectOf = ({ statusCode, headers }: GuardedResponse): string | undefined =>
  redirects.has(statusCode) && typeof headers.location === 'string' ? headers.location : undefined;

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
  'ETIMEOUT',
]);

/** A name that is unknown and one that leads inside look the same to the client. */
const failureOf = (reason: unknown, field: string, tooLate: boolean): ApiError => {
  if (reason instanceof ApiError) return reason;
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : '';
  const why =
    tooLate || timeoutCodes.has(code)
      ? ' in time'
      : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
        ? ': its host has no public address'
        : '';
  return fail('invalid_request', `${field} could not be fetched${why}`, { cause: reason });
};
