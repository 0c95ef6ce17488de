/** `/limits`: the limits that subscriptions have of their own. */
import { AdminLimits, AdminLimitsList, ClearLimitsQuery, SetLimits } from '../../../schemas/admin/limits.ts';
import { ifMatch, PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import type { LimitsRecord } from '../../../schemas/records.ts';
import { fail } from '../../errors.ts';
import { noLimits } from '../../limits/manage.ts';
import type { Management } from '../management.ts';
import { pageOf } from '../page.ts';
import { type AdminAnswer, type AdminRoute, route } from '../route.ts';

const tag = 'Limits';

const shown = (record: LimitsRecord) => ({
  ...{ id: record.subscription, object: 'limits' as const, ...record },
});
const answer = (record: LimitsRecord): AdminAnswer => ({ value: shown(record), record });

const idOf = async ({ keys }: Management, reference: string | undefined): Promise<string> =>
  (await keys.findSubscription(reference ?? '')).id;

const limitsOf = async (manage: Management, subscription: string): Promise<LimitsRecord> =>
  (await manage.limits.list()).find((each) => each.subscription === subscription) ?? noLimits(subscription);

export const limits: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/limits',
    doc: {
      tag,
      summary: 'Of every subscription that has any of its own',
      query: PageQuery({}),
      response: json(AdminLimitsList),
      errors: [400, 503],
    },
    run: async ({ manage, query }) => ({ value: pageOf((await manage.limits.list()).map(shown), query) }),
  }),
  route({
    method: 'GET',
    path: '/limits/{subscription}',
    doc: { tag, summary: 'Of one subscription', response: json(AdminLimits), errors: [404, 503] },
    run: async ({ manage, params }) =>
      answer(await limitsOf(manage, await idOf(manage, params.subscription))),
  }),
  route({
    method: 'PATCH',
    path: '/limits/{subscription}',
    body: SetLimits,
    doc: {
      tag,
      summary: 'Numbers that are given replace the former ones, null removes one, others stay',
      headers: ifMatch,
      response: json(AdminLimits),
      errors: [400, 404, 409, 412, 413, 503],
    },
    run: async ({ manage, params, body: { model, ...numbers }, expect }) => {
      if (Object.keys(numbers).length === 0)
        throw fail('invalid_request', 'At least one number is required', { param: null });
      return answer(await manage.limits.set(await idOf(manage, params.subscription), model, numbers, expect));
    },
  }),
  route({
    method: 'DELETE',
    path: '/limits/{subscription}',
    doc: {
      tag,
      summary: 'Back to the limits of the catalog; 404 where there were none',
      query: ClearLimitsQuery,
      headers: ifMatch,
      response: json(AdminLimits),
      errors: [404, 409, 412, 503],
    },
    run: async ({ manage, params, query, expect }) => {
      const id = await idOf(manage, params.subscription);
      if (!(await manage.limits.clear(id, query.get('model') ?? undefined, expect)))
        throw fail('not_found', `Subscription ${id} has no such limits of its own`);
      return answer(await limitsOf(manage, id));
    },
  }),
];
