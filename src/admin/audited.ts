/** Management functions that note what they change in the audit log. */
import type { BudgetRecord } from '../../schemas/budgets.ts';
import type { KeyRecord, SubscriptionRecord } from '../../schemas/records.ts';
import type { DeliveryRecord } from '../../schemas/webhooks.ts';
import type { BudgetsManagement } from '../budgets/manage.ts';
import type { KeyManagement } from '../keys/manage.ts';
import { type LimitsManagement, noLimits } from '../limits/manage.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Audit } from './audit.ts';
import type { BudgetManagement, DeliveryManagement } from './management.ts';

export const auditedKeys = (keys: KeyManagement, audit: Audit): KeyManagement => {
  const ofKey =
    (action: string) =>
    ({ id, subscription }: KeyRecord) => ({ action: `key.${action}`, target: id, subscription });
  const changing =
    (action: string, change: KeyManagement['suspendKey']): KeyManagement['suspendKey'] =>
    (reference, expect) =>
      audit.changing(ofKey(action), (see) => change(reference, see), expect);
  return {
    ...keys,
    createSubscription: async (name) => {
      const after = await keys.createSubscription(name);
      await audit.note({ ...ofSubscription('create', after), after });
      return after;
    },
    setSubscriptionStatus: (reference, status, expect) =>
      audit.changing(
        (after) => ofSubscription(statusVerbs[status], after),
        (see) => keys.setSubscriptionStatus(reference, status, see),
        expect,
      ),
    createKey: async (options) => {
      const created = await keys.createKey(options);
      await audit.note({ ...ofKey('create')(created.key), after: created.key });
      return created;
    },
    updateKey: (reference, changes, expect) =>
      audit.changing(ofKey('update'), (see) => keys.updateKey(reference, changes, see), expect),
    rotateKey: async (reference, overlap, expect) => {
      let before: KeyRecord | undefined;
      const rotated = await keys.rotateKey(reference, overlap, (current) => {
        expect?.(current);
        before = current;
      });
      await audit.note({ ...ofKey('rotate')(rotated.key), before, after: rotated.key });
      return rotated;
    },
    suspendKey: changing('suspend', keys.suspendKey),
    resumeKey: changing('resume', keys.resumeKey),
    revokeKey: changing('revoke', keys.revokeKey),
  };
};

const statusVerbs = { active: 'resume', suspended: 'suspend', closed: 'close' } as const;

const ofSubscription = (action: string, { id }: SubscriptionRecord) => ({
  ...{ action: `subscription.${action}`, target: id, subscription: id },
});

export const auditedLimits = (limits: LimitsManagement, audit: Audit): LimitsManagement => ({
  ...limits,
  set: (subscription, model, numbers, expect) =>
    audit.changing(
      () => ({ action: 'limits.set', target: subscription, subscription }),
      (see) => limits.set(subscription, model, numbers, see),
      expect,
    ),
  clear: async (subscription, model, expect) => {
    let before = noLimits(subscription);
    const cleared = await limits.clear(subscription, model, (current) => {
      expect?.(current);
      before = current;
    });
    const { [model ?? '']: _, ...models } = before.models;
    const after = model === undefined ? noLimits(subscription) : { ...before, models };
    if (cleared)
      await audit.note({ action: 'limits.clear', target: subscription, subscription, before, after });
    return cleared;
  },
});

export const auditedBudgets = (budgets: BudgetsManagement, audit: Audit): BudgetManagement => {
  const ofBudget = (action: string, { id, subscription }: BudgetRecord) => ({
    ...{ action: `budget.${action}`, target: id, subscription },
  });
  return {
    list: () => budgets.list(),
    get: async (id) => (await budgets.get(id)).value,
    create: async (budget) => {
      const after = await budgets.create(budget);
      await audit.note({ ...ofBudget('create', after), after });
      return after;
    },
    update: async (id, changes, expect) => {
      const { version, value: before } = await budgets.get(id);
      expect?.(before);
      const after = await budgets.update(id, changes, version);
      await audit.note({ ...ofBudget('update', after), before, after });
      return after;
    },
    remove: async (id, expect) => {
      const { version, value: before } = await budgets.get(id);
      expect?.(before);
      await budgets.remove(id, version);
      await audit.note({ ...ofBudget('remove', before), before });
      return before;
    },
  };
};

export const auditedDeliveries = (deliveries: Deliveries, audit: Audit): DeliveryManagement => ({
  list: (limit, subscription) => deliveries.list(limit, subscription),
  ofJob: (job) => deliveries.ofJob(job),
  resend: async (id, expect) => {
    let before: object | undefined;
    const after = await deliveries.resend(id, (current) => {
      expect?.(current);
      before = progressOf(current);
    });
    const { subscription } = after;
    await audit.note({
      ...{ action: 'delivery.resend', target: id, subscription, before },
      after: progressOf(after),
    });
    return after;
  },
});

/** Without the address, which may hold a secret, and the body. */
const progressOf = ({ status, tries, next }: DeliveryRecord): object => ({ status, tries, next });
