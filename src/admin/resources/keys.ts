/** `/keys`: API keys, without their secrets. */
import {
  AdminKey,
  AdminKeyList,
  CreateKey,
  NewAdminKey,
  RotateKey,
  UpdateKey,
} from '../../../schemas/admin/keys.ts';
import { ifMatch, ofSubscription, PageQuery } from '../../../schemas/admin/page.ts';
import { json } from '../../../schemas/openapi.ts';
import type { KeyRecord } from '../../../schemas/records.ts';
import type { KeyManagement, NewKey } from '../../keys/manage.ts';
import type { KeyChanges } from '../../keys/settings.ts';
import { pageOf } from '../page.ts';
import { type AdminAnswer, type AdminRoute, route } from '../route.ts';

const tag = 'Keys';
const day = 86_400;

/** One entry per key: while it is rotated the store has a record for each of its secrets, the newest last. */
const everyKey = async (keys: KeyManagement, subscription?: string): Promise<readonly AdminKey[]> => {
  const [records, uses] = await Promise.all([keys.listKeys(subscription), keys.lastUses()]);
  const byId = new Map<string, KeyRecord[]>();
  for (const record of records) byId.set(record.id, [...(byId.get(record.id) ?? []), record]);
  return [...byId.values()].map((same) => shown(same, uses));
};

const shown = (same: readonly KeyRecord[], uses: ReadonlyMap<string, number>): AdminKey => {
  const newest = same.at(-1);
  if (newest === undefined) throw new Error('A key has at least one record');
  return {
    object: 'key',
    ...newest,
    last_used: uses.get(newest.id) ?? null,
    former_secrets: same.slice(0, -1).map(({ display, expires }) => ({ display, expires: expires ?? null })),
  };
};

const answer = async (keys: KeyManagement, record: KeyRecord, status = 200): Promise<AdminAnswer> => {
  const all = await everyKey(keys, record.subscription);
  const found = all.find(({ id }) => id === record.id);
  return { value: found ?? shown([record], new Map()), record, status };
};

const withSecret = async (keys: KeyManagement, { key, secret }: NewKey): Promise<AdminAnswer> => {
  const { value, ...rest } = await answer(keys, key, 201);
  return { ...rest, value: { ...(value as AdminKey), secret } };
};

const changing = (
  verb: string,
  summary: string,
  change: (keys: KeyManagement) => KeyManagement['suspendKey'],
): AdminRoute =>
  route({
    method: 'POST',
    path: `/keys/{id}/${verb}`,
    doc: { tag, summary, headers: ifMatch, response: json(AdminKey), errors: [404, 409, 412, 503] },
    run: async ({ manage: { keys }, params, expect }) =>
      answer(keys, await change(keys)(params.id ?? '', expect)),
  });

export const keys: readonly AdminRoute[] = [
  route({
    method: 'GET',
    path: '/keys',
    doc: {
      tag,
      summary: 'Keys',
      query: PageQuery(ofSubscription),
      response: json(AdminKeyList),
      errors: [400, 404, 503],
    },
    run: async ({ manage, query }) => ({
      value: pageOf(await everyKey(manage.keys, query.get('subscription') ?? undefined), query),
    }),
  }),
  route({
    method: 'POST',
    path: '/keys',
    body: CreateKey,
    doc: {
      tag,
      summary: 'A new key; its secret is shown this once',
      status: 201,
      response: json(NewAdminKey),
      errors: [400, 404, 409, 413, 503],
    },
    run: async ({ manage: { keys }, body }) => withSecret(keys, await keys.createKey(body)),
  }),
  route({
    method: 'GET',
    path: '/keys/{id}',
    doc: {
      tag,
      summary: 'One key, by id or by `sha256:` and the hash of its secret in hex',
      response: json(AdminKey),
      errors: [404, 503],
    },
    run: async ({ manage: { keys }, params }) => answer(keys, await keys.findKey(params.id ?? '')),
  }),
  route({
    method: 'PATCH',
    path: '/keys/{id}',
    body: UpdateKey,
    doc: {
      tag,
      summary: 'Changes what it may be used for; null removes a setting',
      headers: ifMatch,
      response: json(AdminKey),
      errors: [400, 404, 409, 412, 413, 503],
    },
    run: async ({ manage: { keys }, params, body, expect }) =>
      answer(keys, await keys.updateKey(params.id ?? '', body as KeyChanges, expect)),
  }),
  route({
    method: 'POST',
    path: '/keys/{id}/rotate',
    body: RotateKey,
    doc: {
      tag,
      summary: 'A new secret for the same key; the former one works a while longer',
      status: 201,
      headers: ifMatch,
      response: json(NewAdminKey),
      errors: [400, 404, 409, 412, 413, 503],
    },
    run: async ({ manage: { keys }, params, body, expect }) =>
      withSecret(keys, await keys.rotateKey(params.id ?? '', body.overlap ?? day, expect)),
  }),
  changing('suspend', 'Refuses it until it is resumed', (keys) => keys.suspendKey),
  changing('resume', 'Accepts it again', (keys) => keys.resumeKey),
  changing('revoke', 'Closes it for good', (keys) => keys.revokeKey),
];
