/** What operators may do to keys, subscriptions, limits, budgets and deliveries; every change is in the audit log. */
import type { BudgetChanges, BudgetRecord } from '../../schemas/budgets.ts';
import type { DeliveryRecord } from '../../schemas/webhooks.ts';
import { type BudgetsManagement, createBudgetsManagement } from '../budgets/manage.ts';
import { createKeyManagement, type Expect, type KeyManagement } from '../keys/manage.ts';
import { createLimitsManagement, type LimitsManagement } from '../limits/manage.ts';
import type { State } from '../ports/state.ts';
import { Deliveries } from '../webhooks/deliveries.ts';
import type { Audit } from './audit.ts';
import { auditedBudgets, auditedDeliveries, auditedKeys, auditedLimits } from './audited.ts';

export interface Management {
  readonly keys: KeyManagement;
  readonly limits: LimitsManagement;
  readonly budgets: BudgetManagement;
  readonly deliveries: DeliveryManagement;
}

export interface BudgetManagement extends Pick<BudgetsManagement, 'create' | 'list'> {
  get(id: string): Promise<BudgetRecord>;
  update(id: string, changes: BudgetChanges, expect?: Expect<BudgetRecord>): Promise<BudgetRecord>;
  remove(id: string, expect?: Expect<BudgetRecord>): Promise<BudgetRecord>;
}

export interface DeliveryManagement {
  /** The latest first. */
  list(limit: number, subscription?: string): Promise<readonly ShownDelivery[]>;
  ofJob(job: string): Promise<readonly ShownDelivery[]>;
  /** Rejects with `not_found`. */
  resend(id: string, expect?: (current: DeliveryRecord) => void): Promise<ShownDelivery['value']>;
}

export interface ShownDelivery {
  readonly id: string;
  readonly value: Omit<DeliveryRecord, 'body' | 'claim'>;
}

export const createManagement = (state: State, audit: Audit): Management => ({
  keys: auditedKeys(createKeyManagement(state), audit),
  limits: auditedLimits(createLimitsManagement(state), audit),
  budgets: auditedBudgets(createBudgetsManagement(state), audit),
  deliveries: auditedDeliveries(new Deliveries(state), audit),
});
