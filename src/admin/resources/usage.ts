/** `/usage`: what all subscriptions used and what it costs, in totals or request by request. */
import { readUsageQuery, usageOfPeriod } from '../../../pipelines/account/usage.ts';
import { AdminUsageList, AdminUsageQuery } from '../../../schemas/admin/usage.ts';
import { json } from '../../../schemas/openapi.ts';
import { requestRow } from '../../billing/usage-rows.ts';
import { usageGroups } from '../../ports/ledger.ts';
import type { Management } from '../management.ts';
import { type AdminRoute, route } from '../route.ts';

const read = readUsageQuery(usageGroups, '/admin/v1/usage');

/** An id is taken as it is: its subscription may be gone, its usage is not. */
const ownerOf = async ({ keys }: Management, reference: string | null): Promise<string | undefined> => {
  if (reference === null || reference === '') return undefined;
  return reference.startsWith('sub_') ? reference : (await keys.findSubscription(reference)).id;
};

export const usage: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/usage',
    doc: {
      tag: 'Usage',
      summary: 'What was used and what it costs, in totals or request by request',
      query: AdminUsageQuery,
      response: json(AdminUsageList),
      errors: [400, 404, 503],
    },
    run: async ({ parts: { ledger }, manage, query }) => {
      const request = read({ query: query.toString() });
      const owner = await ownerOf(manage, query.get('subscription'));
      const value = await usageOfPeriod(ledger, owner, request, (event) => ({
        ...requestRow(event),
        subscription: event.subscription,
      }));
      return { value };
    },
  }),
];
