/** `/deliveries`: webhook deliveries with their attempts, and sending one again. */
import { AdminDelivery, AdminDeliveryList } from '../../../schemas/admin/deliveries.ts';
import { ifMatch, ofSubscription, PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import type { DeliveryRecord } from '../../../schemas/webhooks.ts';
import { fail } from '../../errors.ts';
import { Deliveries } from '../../webhooks/deliveries.ts';
import { storedPage } from '../page.ts';
import { type AdminAnswer, type AdminRoute, route } from '../route.ts';

const tag = 'Webhooks';

type Visible = Omit<DeliveryRecord, 'body' | 'claim'>;

const visible = ({ body: _, claim: __, ...record }: Visible & Partial<DeliveryRecord>): Visible => record;

const shown = ({ id, value }: { readonly id: string; readonly value: Visible }): AdminDelivery => ({
  ...{ id, object: 'delivery', ...visible(value) },
});

const answer = (id: string, value: Visible): AdminAnswer => ({
  value: shown({ id, value }),
  record: visible(value),
});

export const deliveries: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/deliveries',
    doc: {
      tag,
      summary: 'Deliveries',
      query: PageQuery(ofSubscription),
      response: json(AdminDeliveryList),
      errors: [400, 503],
    },
    run: async ({ parts: { state }, query }) => ({
      value: await storedPage(query, (page) => new Deliveries(state).page(page), shown),
    }),
  }),
  route({
    method: 'GET',
    path: '/deliveries/{id}',
    doc: { tag, summary: 'One delivery', response: json(AdminDelivery), errors: [404, 503] },
    run: async ({ parts: { state }, params }) => {
      const found = await new Deliveries(state).get(params.id ?? '');
      if (found === undefined) throw fail('not_found', `There is no delivery "${params.id}"`);
      return answer(found.id, found.value);
    },
  }),
  route({
    method: 'POST',
    path: '/deliveries/{id}/resend',
    doc: {
      tag,
      summary: 'Delivers it once more, at once and with all its attempts again',
      headers: ifMatch,
      response: json(AdminDelivery),
      errors: [404, 409, 412, 503],
    },
    run: async ({ manage, params: { id = '' }, expect }) =>
      answer(id, await manage.deliveries.resend(id, expect && ((current) => expect(visible(current))))),
  }),
];
