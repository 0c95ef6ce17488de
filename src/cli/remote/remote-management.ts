/** What operators may do to keys, subscriptions, limits, budgets and deliveries, over the admin API of a gateway. */
import type { AdminBudget } from '../../../schemas/admin/budgets.ts';
import type { AdminDelivery } from '../../../schemas/admin/deliveries.ts';
import type { AdminKey } from '../../../schemas/admin/keys.ts';
import type { BudgetRecord } from '../../../schemas/budgets.ts';
import type { KeyRecord, LimitsRecord, Status, SubscriptionRecord } from '../../../schemas/records.ts';
import type {
  BudgetManagement,
  DeliveryManagement,
  Management,
  ShownDelivery,
} from '../../admin/management.ts';
import type { KeyManagement, NewKey } from '../../keys/manage.ts';
import { hashSecret } from '../../keys/secret.ts';
import type { LimitsManagement } from '../../limits/manage.ts';
import { type GatewayClient, GatewayError } from './gateway-client.ts';

export const remoteManagement = (client: GatewayClient): Management => ({
  keys: remoteKeys(client),
  limits: remoteLimits(client),
  budgets: remoteBudgets(client),
  deliveries: remoteDeliveries(client),
});

const path = (...segments: readonly string[]): string =>
  segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');

/** A secret is not sent: the gateway knows it by its hash. */
const keyPath = (reference: string, ...rest: readonly string[]): string =>
  path('keys', reference.startsWith('key_') ? reference : `sha256:${hashSecret(reference)}`, ...rest);

type Shown<T> = T & { readonly object: string };

/** The record alone, as the store has it. */
const bare = <T>({ object: _, ...record }: Shown<T>): T => record as T;

const keyOf = ({ object: _, last_used: __, former_secrets: ___, ...key }: AdminKey): KeyRecord => key;

const newKeyOf = ({ secret, ...key }: AdminKey & { readonly secret: string }): NewKey => ({
  secret,
  key: keyOf(key),
});

const verbs: Readonly<Record<Status, string>> = { active: 'resume', suspended: 'suspend', closed: 'close' };

const remoteKeys = (client: GatewayClient): KeyManagement => {
  const everyKey = (subscription?: string): Promise<readonly AdminKey[]> =>
    client.all('/keys', subscription === undefined ? {} : { subscription });
  const changing = (verb: string) => async (reference: string) =>
    keyOf(await client.post<AdminKey>(keyPath(reference, verb)));
  return {
    createSubscription: async (name) =>
      bare(await client.post<Shown<SubscriptionRecord>>('/subscriptions', { name })),
    findSubscription: async (reference) =>
      bare(await client.get<Shown<SubscriptionRecord>>(path('subscriptions', reference))),
    listSubscriptions: async () => (await client.all<Shown<SubscriptionRecord>>('/subscriptions')).map(bare),
    setSubscriptionStatus: async (reference, status) =>
      bare(await client.post<Shown<SubscriptionRecord>>(path('subscriptions', reference, verbs[status]))),
    createKey: async (options) => newKeyOf(await client.post('/keys', options)),
    updateKey: async (reference, changes) => keyOf(await client.patch<AdminKey>(keyPath(reference), changes)),
    rotateKey: async (reference, overlap) =>
      newKeyOf(await client.post(keyPath(reference, 'rotate'), { overlap })),
    findKey: async (reference) => keyOf(await client.get<AdminKey>(keyPath(reference))),
    listKeys: async (subscription) =>
      (await everyKey(subscription)).flatMap((key) => [
        ...key.former_secrets.map(({ display, expires }) => ({
          ...keyOf(key),
          display,
          ...(expires === null ? {} : { expires }),
        })),
        keyOf(key),
      ]),
    lastUses: async () =>
      new Map(
        (await everyKey()).flatMap(({ id, last_used }) => (last_used === null ? [] : [[id, last_used]])),
      ),
    suspendKey: changing('suspend'),
    resumeKey: changing('resume'),
    revokeKey: changing('revoke'),
  };
};

const remoteLimits = (client: GatewayClient): LimitsManagement => {
  const recordOf = ({ id: _, ...limits }: Shown<LimitsRecord> & { readonly id: string }): LimitsRecord =>
    bare(limits);
  return {
    set: async (subscription, model, numbers) =>
      recordOf(
        await client.patch(path('limits', subscription), {
          ...(model === undefined ? {} : { model }),
          ...numbers,
        }),
      ),
    list: async () =>
      (await client.all<Shown<LimitsRecord> & { readonly id: string }>('/limits')).map(recordOf),
    clear: async (subscription, model) => {
      const query = model === undefined ? '' : `?${new URLSearchParams({ model })}`;
      return (await unlessMissing(client.delete(path('limits', subscription) + query))) !== undefined;
    },
  };
};

const remoteBudgets = (client: GatewayClient): BudgetManagement => ({
  create: async (budget) => budgetOf(await client.post('/budgets', budget)),
  list: async () => (await client.all<AdminBudget>('/budgets')).map(budgetOf),
  get: async (id) => budgetOf(await client.get(path('budgets', id))),
  update: async (id, changes) => budgetOf(await client.patch(path('budgets', id), changes)),
  remove: async (id) => {
    const budget = budgetOf(await client.get(path('budgets', id)));
    await client.delete(path('budgets', id));
    return budget;
  },
});

const budgetOf = ({ object: _, used, reserved, left, resets, ...budget }: AdminBudget): BudgetRecord =>
  budget;

const remoteDeliveries = (client: GatewayClient): DeliveryManagement => ({
  list: async (limit, subscription) => {
    const query = { order: 'desc', ...(subscription === undefined ? {} : { subscription }) };
    const found: ShownDelivery[] = [];
    for (let after = {}; ; ) {
      const asked = new URLSearchParams({
        limit: String(Math.min(100, limit - found.length)),
        ...query,
        ...after,
      });
      const page = await client.get<{ data: readonly AdminDelivery[]; has_more: boolean }>(
        `/deliveries?${asked}`,
      );
      found.push(...page.data.map(deliveryOf));
      if (!page.has_more || found.length >= limit) return found;
      after = { after: page.data.at(-1)?.id ?? '' };
    }
  },
  ofJob: async (job) => {
    const endings = ['completed', 'failed', 'cancelled', 'expired'];
    const found = await Promise.all(
      endings.map((ending) =>
        unlessMissing(client.get<AdminDelivery>(path('deliveries', `${job}-${ending}`))),
      ),
    );
    return found.flatMap((delivery) => (delivery === undefined ? [] : [deliveryOf(delivery)]));
  },
  resend: async (id) => deliveryOf(await client.post<AdminDelivery>(path('deliveries', id, 'resend'))).value,
});

const deliveryOf = ({ id, object: _, ...value }: AdminDelivery): ShownDelivery => ({ id, value });

const unlessMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof GatewayError && error.status === 404) return undefined;
    throw error;
  });
