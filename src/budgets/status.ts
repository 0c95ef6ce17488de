/** What of each budget is used, reserved and left now, and when it resets. */
import type { BudgetRecord, BudgetStatus } from '../../schemas/budgets.ts';
import { dollars } from '../helpers/decimal.ts';
import type { Allowances } from '../ports/allowances.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import { allowanceAt, type BudgetAllowance } from './book.ts';
import { spentOf } from './spent.ts';

export type BudgetWithStatus = BudgetRecord & BudgetStatus;

/** As a running gateway knows it, in the order of the budgets. */
export const budgetsStatus = async (
  allowances: Pick<Allowances, 'used'>,
  budgets: readonly BudgetRecord[],
  now = Date.now(),
): Promise<readonly BudgetWithStatus[]> => {
  const current = budgets.map((budget) => allowanceAt(budget, now));
  const all = await allowances.used(current);
  return current.map((allowance, index) => {
    const { used = 0, reserved = 0 } = all[index] ?? {};
    return statusOf(allowance, used - reserved, reserved);
  });
};

/** As the ledger knows it: without calls that run now. */
export const budgetsInLedger = async (
  parts: { readonly state: State; readonly ledger: Pick<Ledger, 'totals'> },
  budgets: readonly BudgetRecord[],
  now = Date.now(),
): Promise<readonly BudgetWithStatus[]> => {
  const found: BudgetWithStatus[] = [];
  for (const budget of budgets) {
    const allowance = allowanceAt(budget, now);
    found.push(statusOf(allowance, await spentOf(parts, budget, allowance.period), undefined));
  }
  return found;
};

const statusOf = (
  { budget, limit, period: { end } }: BudgetAllowance,
  used: number,
  reserved: number | undefined,
): BudgetWithStatus => ({
  ...budget,
  used: dollars(used),
  reserved: reserved === undefined ? null : dollars(reserved),
  left: dollars(limit - used - (reserved ?? 0)),
  resets: end === undefined ? null : Math.floor(end / 1000),
});
