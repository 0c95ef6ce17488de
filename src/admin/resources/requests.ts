/** `/requests`: requests that run now, and ending one of them. */
import { readLimit } from '../../../pipelines/core/page.ts';
import {
  AdminRequestList,
  type AdminRequestShape,
  CancelledRequest,
  AdminRequestShape as RequestShape,
  RequestsQuery,
} from '../../../schemas/admin/requests.ts';
import { json } from '../../../schemas/openapi.ts';
import { fail } from '../../errors.ts';
import type { LiveRequest } from '../../ports/live.ts';
import { anySuccess, merging } from '../combine.ts';
import { type AdminParts, type AdminRoute, route } from '../route.ts';

const tag = 'Requests';

const all = ({ requests, models }: AdminParts): readonly AdminRequestShape[] => {
  const engines = new Map(models().map(({ id, engine }) => [id, engine]));
  return requests.list().map((request) => shownRequest(request, engines));
};

/** `engines` are those of models. */
export const shownRequest = (
  request: LiveRequest,
  engines: ReadonlyMap<string, string>,
): AdminRequestShape => ({
  ...{ object: 'request', process: process.pid, ...request },
  engine: engines.get(request.model ?? '') ?? null,
});

const find = (parts: AdminParts, id: string | undefined): AdminRequestShape => {
  const found = all(parts).find((request) => request.id === id);
  if (found === undefined) throw fail('not_found', `No request "${id}" runs now`);
  return found;
};

const filters = ['model', 'subscription', 'key', 'state'] as const;

/** The oldest first. */
const listOf = (found: readonly AdminRequestShape[], limit: number, more = false): AdminRequestList => {
  const data = found.toSorted((a, b) => b.age_ms - a.age_ms).slice(0, limit);
  return {
    ...{ object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
    has_more: more || found.length > limit,
  };
};

const cancelled = () => fail('unavailable', 'The request was cancelled by an operator', { isFinal: true });

export const requests: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/requests',
    doc: {
      tag,
      summary: 'Requests that run now, the oldest first; resumable streams without a client too',
      query: RequestsQuery,
      response: json(AdminRequestList),
      errors: [400],
    },
    run: async ({ parts, query }) => {
      const limit = readLimit(query, 100, 1000);
      const wanted = filters.filter((name) => query.has(name));
      const found = all(parts).filter((each) => wanted.every((name) => each[name] === query.get(name)));
      return { value: listOf(found, limit) };
    },
    combine: merging<AdminRequestList>((lists) =>
      listOf(
        lists.flatMap(({ data }) => data),
        Number.POSITIVE_INFINITY,
        lists.some(({ has_more }) => has_more),
      ),
    ),
  }),
  route({
    method: 'GET',
    path: '/requests/{id}',
    doc: { tag, summary: 'One that runs now', response: json(RequestShape), errors: [404] },
    run: async ({ parts, params }) => ({ value: find(parts, params.id) }),
    combine: anySuccess,
  }),
  route({
    method: 'POST',
    path: '/requests/{id}/cancel',
    doc: {
      tag,
      summary: 'Ends it with a 503: as the response, or inside its stream. It is not billed',
      response: json(CancelledRequest),
      errors: [404, 503],
    },
    run: async ({ parts, params, audit }) => {
      const before = find(parts, params.id);
      const { id, model, route: path, subscription } = before;
      if (!parts.requests.cancel(id, cancelled())) throw fail('not_found', `No request "${id}" runs now`);
      await audit.note({
        ...{ action: 'request.cancel', target: id, subscription: subscription ?? undefined },
        before: { model, route: path },
      });
      return { value: { id, object: 'request', cancelled: true } };
    },
    combine: anySuccess,
  }),
];
