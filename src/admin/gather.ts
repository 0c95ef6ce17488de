/** The admin API of a supervisor: asks one of its gateway processes, or all of them. */
import { asApiError, fail } from '../errors.ts';
import { errorReply } from './api.ts';
import type { AdminApi, AdminReply, AdminRequest } from './route.ts';
import { findRoute } from './routes.ts';

/** Replies of those that replied in time. */
export type Ask = (request: AdminRequest, whom: 'one' | 'all') => Promise<readonly AdminReply[]>;

export const gatheredApi =
  (ask: Ask): AdminApi =>
  async (request) => {
    try {
      const { combine } = findRoute(request).route;
      const replies = await ask(request, combine === undefined ? 'one' : 'all');
      const [first] = replies;
      if (first === undefined) throw fail('unavailable', 'No gateway process replied: try again');
      return combine === undefined ? first : combine(replies);
    } catch (thrown) {
      return errorReply(asApiError(thrown), request.id);
    }
  };
