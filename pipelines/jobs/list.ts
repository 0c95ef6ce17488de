/** GET /videos and /music: a page in; the subscription's jobs out. */
import { defer, map } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { jsonReply, type KeyedPipeline } from '../../src/ports/exchange.ts';
import type { JobPage, JobType } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { recordFor } from './job-response.ts';

const usualLimit = 20;
const highestLimit = 100;

export const jobList =
  (ports: Ports, type: JobType): KeyedPipeline =>
  (exchange, { subscription }) =>
    defer(() => {
      const page = readPage(new URLSearchParams(exchange.query)); // 400
      // One more than asked for tells whether there are more.
      return defer(() => ports.jobs.list(type, subscription, { ...page, limit: page.limit + 1 })).pipe(
        map((found) => {
          const isBackwards = page.before !== undefined && page.after === undefined;
          const views = isBackwards ? found.slice(-page.limit) : found.slice(0, page.limit);
          return jsonReply({
            object: 'list',
            data: views.map((view) => recordFor(ports, exchange, view)),
            first_id: views[0]?.job.id ?? null,
            last_id: views.at(-1)?.job.id ?? null,
            has_more: found.length > page.limit,
          });
        }),
      );
    });

const readPage = (query: URLSearchParams): JobPage => {
  const limit = query.get('limit') ?? String(usualLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > highestLimit)
    throw fail('invalid_request', `limit must be an integer from 1 to ${highestLimit}`);
  const order = query.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc')
    throw fail('invalid_request', 'order must be one of "asc", "desc"');
  const [after, before] = [query.get('after'), query.get('before')];
  return {
    limit: Number(limit),
    order,
    ...(after === null ? {} : { after }),
    ...(before === null ? {} : { before }),
  };
};
