/** The admin API of one gateway process: finds the route, checks token and body, and writes the reply. */
import { type ApiError, asApiError, errorJson, fail } from '../errors.ts';
import { within } from '../helpers/within.ts';
import { createAudit } from './audit.ts';
import { etagOf, expectation } from './etag.ts';
import { createManagement } from './management.ts';
import type { AdminAnswer, AdminApi, AdminParts, AdminReply, AdminRequest } from './route.ts';
import { findRoute } from './routes.ts';
import type { Authenticate } from './tokens.ts';

const usualLongestMs = 30_000;

/** `longestMs`: that a request may take. */
export const createAdminApi = (
  parts: AdminParts,
  authenticate: Authenticate,
  longestMs = usualLongestMs,
): AdminApi => {
  const answer = async (request: AdminRequest): Promise<AdminAnswer> => {
    const { route, params } = findRoute(request);
    const who = route.access === 'public' ? '' : await authenticate(request.authorization);
    const audit = createAudit(parts.state, who, request.id);
    const query = new URLSearchParams(request.query);
    const body = (route.check === undefined ? undefined : route.check(parsed(request.body))) as never;
    const expect = expectation(request.ifMatch);
    const manage = createManagement(parts.state, audit);
    return route.run({ parts, params, query, body, manage, audit, expect });
  };
  return async (request) => {
    try {
      return replyOf(await inTime(answer(request), longestMs), request.id);
    } catch (thrown) {
      const error = asApiError(thrown);
      if (error.status >= 500)
        parts.log.error({ err: error.cause ?? error, request_id: request.id }, 'admin request failed');
      return errorReply(error, request.id);
    }
  };
};

const inTime = (answer: Promise<AdminAnswer>, longestMs: number): Promise<AdminAnswer> =>
  within(longestMs, answer, () => {
    throw fail('timeout', `This took longer than ${longestMs / 1000} s; it may be done all the same`);
  });

const replyOf = ({ value, status = 200, record }: AdminAnswer, id: string): AdminReply => ({
  status,
  headers: { ...headersOf(id), ...(record === undefined ? {} : { etag: etagOf(record) }) },
  body: JSON.stringify(value),
});

export const errorReply = (error: ApiError, id: string): AdminReply => ({
  status: error.status,
  headers: { ...headersOf(id), ...error.headers },
  body: errorJson(error, 'envelope', id),
});

const headersOf = (id: string): AdminReply['headers'] => ({
  'content-type': 'application/json',
  // Secrets of new keys are among the replies.
  'cache-control': 'no-store',
  'x-request-id': id,
});

/** An empty body is an empty object: many changes need no fields. */
const parsed = (text: string): unknown => {
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw fail('invalid_request', 'The request body is not valid JSON', { param: null });
  }
};
