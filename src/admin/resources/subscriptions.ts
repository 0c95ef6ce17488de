/** `/subscriptions`: the accounts that keys and usage belong to. */
import { ifMatch, PageQuery } from '../../../schemas/admin/page.ts';
import {
  AdminSubscription,
  AdminSubscriptionList,
  NewSubscription,
} from '../../../schemas/admin/subscriptions.ts';
import { json } from '../../../schemas/openapi.ts';
import type { Status, SubscriptionRecord } from '../../../schemas/records.ts';
import { pageOf } from '../page.ts';
import { type AdminAnswer, type AdminRoute, route } from '../route.ts';

const tag = 'Subscriptions';

const shown = (record: SubscriptionRecord) => ({ object: 'subscription' as const, ...record });
const answer = (record: SubscriptionRecord, status = 200): AdminAnswer => ({
  ...{ value: shown(record), record, status },
});

const changing = (verb: string, status: Status, summary: string): AdminRoute =>
  route({
    method: 'POST',
    path: `/subscriptions/{id}/${verb}`,
    doc: { tag, summary, headers: ifMatch, response: json(AdminSubscription), errors: [404, 409, 412, 503] },
    run: async ({ manage, params, expect }) =>
      answer(await manage.keys.setSubscriptionStatus(params.id ?? '', status, expect)),
  });

export const subscriptions: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/subscriptions',
    doc: {
      tag,
      summary: 'Subscriptions',
      query: PageQuery({}),
      response: json(AdminSubscriptionList),
      errors: [400, 503],
    },
    run: async ({ manage, query }) => ({
      value: pageOf((await manage.keys.listSubscriptions()).map(shown), query),
    }),
  }),
  route({
    method: 'POST',
    path: '/subscriptions',
    body: NewSubscription,
    doc: {
      tag,
      summary: 'A new one',
      status: 201,
      response: json(AdminSubscription),
      errors: [400, 413, 503],
    },
    run: async ({ manage, body }) => answer(await manage.keys.createSubscription(body.name), 201),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}',
    doc: {
      tag,
      summary: 'One subscription, by id or by a name that only one has',
      response: json(AdminSubscription),
      errors: [404, 409, 503],
    },
    run: async ({ manage, params }) => answer(await manage.keys.findSubscription(params.id ?? '')),
  }),
  changing('suspend', 'suspended', 'Refuses all its keys until it is resumed'),
  changing('resume', 'active', 'Accepts its keys again'),
  changing('close', 'closed', 'Refuses all its keys for good'),
];
