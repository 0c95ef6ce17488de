/** `/jobs`: rendering jobs of all subscriptions, and ending one of them. */
import { checkEnum } from '../../../pipelines/core/checks.ts';
import { AdminJob, AdminJobList, JobsQuery } from '../../../schemas/admin/jobs.ts';
import { json } from '../../../schemas/openapi.ts';
import type { JobView } from '../../ports/jobs.ts';
import { storedPage } from '../page.ts';
import { type AdminRoute, route } from '../route.ts';

const tag = 'Jobs';

const shown = ({ job, progress, queuePosition }: JobView): AdminJob => {
  const { id, type, subscription, key, request_id, model, status } = job;
  const { created, started, ended, attempts, cost, error, error_code } = job;
  return {
    ...{ id, object: 'job', type, status, model, subscription, key, request_id },
    ...{ created, started, ended, attempts, progress, queue_position: queuePosition ?? null },
    ...{ cost, error, error_code },
  };
};

export const jobs: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/jobs',
    doc: {
      tag,
      summary: 'Jobs of one type',
      query: JobsQuery,
      response: json(AdminJobList),
      errors: [400, 503],
    },
    run: async ({ parts, query }) => {
      const type = checkEnum(query.get('type') ?? 'video', 'type', ['video', 'music']);
      const read = ({
        owner,
        ...page
      }: { readonly owner?: string } & Parameters<typeof parts.jobs.listAll>[2]) =>
        parts.jobs.listAll(type, owner, page);
      return { value: await storedPage(query, read, shown) };
    },
  }),
  route({
    method: 'GET',
    path: '/jobs/{id}',
    doc: { tag, summary: 'One job', response: json(AdminJob), errors: [404, 503] },
    run: async ({ parts, params }) => ({ value: shown(await parts.jobs.getOfAny(params.id ?? '')) }),
  }),
  route({
    method: 'POST',
    path: '/jobs/{id}/cancel',
    doc: {
      tag,
      summary: 'Ends one that has not ended; 409 where it has',
      response: json(AdminJob),
      errors: [404, 409, 503],
    },
    run: async ({ parts, params, audit }) => {
      const { job: before } = await parts.jobs.getOfAny(params.id ?? '');
      const view = await parts.jobs.cancel(before.id);
      await audit.note({
        ...{ action: 'job.cancel', target: before.id, subscription: before.subscription },
        before: { status: before.status },
        after: { status: view.job.status },
      });
      return { value: shown(view) };
    },
  }),
];
