/** `/logs`: the requests that ended last. */
import { readLimit } from '../../../pipelines/core/page.ts';
import { LogEntry, LogList, LogQuery } from '../../../schemas/admin/requests.ts';
import { fail } from '../../errors.ts';
import type { EndedRequest } from '../../ports/live.ts';
import { merging } from '../combine.ts';
import { type AdminRoute, route } from '../route.ts';

/** Of every process its id and how many requests have ended in it: `812:57,813:40`. */
const cursorForm = /^(?:\d{1,10}:\d{1,15})(?:,\d{1,10}:\d{1,15}){0,300}$/;

export const placeOf = (cursor: string | null): number => {
  if (cursor === null || cursor === '') return 0;
  if (!cursorForm.test(cursor)) throw fail('invalid_request', 'after must be the cursor of a list');
  const own = cursor.split(',').find((part) => part.startsWith(`${process.pid}:`));
  return own === undefined ? 0 : Number(own.slice(own.indexOf(':') + 1));
};

export const cursorOf = (count: number): string => `${process.pid}:${count}`;

export const shownEnd = (request: EndedRequest): LogEntry => ({
  ...{ object: 'request.ended', process: process.pid },
  ...request,
});

const merged = (lists: readonly LogList[]): LogList => ({
  object: 'list',
  data: lists.flatMap(({ data }) => data).toSorted((a, b) => a.time - b.time),
  cursor: lists.map(({ cursor }) => cursor).join(','),
});

export const logs: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/logs',
    doc: {
      tag: 'Requests',
      summary: 'Requests that ended last, the oldest first; a process keeps 1024',
      query: LogQuery,
      response: { 'application/json': LogList, 'application/x-ndjson': LogEntry },
      errors: [400],
    },
    run: async ({ parts, query }) => {
      const { ended, count } = parts.requests.recent(placeOf(query.get('after')));
      const value: LogList = {
        object: 'list',
        data: ended.slice(-readLimit(query, 100, 1000)).map(shownEnd),
        cursor: cursorOf(count),
      };
      return { value };
    },
    combine: merging<LogList>(merged),
  }),
];
