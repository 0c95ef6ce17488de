/** Caches budgets from the State port, by what they are for. */
import type { BudgetRecord } from '../../schemas/budgets.ts';
import { nanodollars } from '../helpers/decimal.ts';
import { everyRecord, type WatchOptions, watchRecords } from '../helpers/stored-records.ts';
import type { Allowance } from '../ports/allowances.ts';
import type { Caller } from '../ports/exchange.ts';
import type { State } from '../ports/state.ts';
import { budgetKind, mostBudgets } from './manage.ts';
import { type PeriodSpan, periodAt } from './period.ts';

/** The allowance of a budget in one of its periods. */
export interface BudgetAllowance extends Allowance {
  readonly budget: BudgetRecord;
  readonly period: PeriodSpan;
}

export interface BudgetsBook {
  /** Those that a call of this caller has to be within; undefined: none. */
  of(caller: Caller, now: number): readonly BudgetAllowance[] | undefined;
  readonly isEmpty: boolean;
  all(now: number): readonly BudgetAllowance[];
  close(): Promise<void>;
}

export const allowanceAt = (budget: BudgetRecord, now: number): BudgetAllowance => {
  const period = periodAt(budget.period, budget.time_zone, now, budget.created * 1000);
  return {
    // Beside the subscription's limits; a tag's budget without one is for calls of many.
    name: `${budget.subscription ?? `#${budget.tag}`}/${budget.id}:${period.start}`,
    limit: nanodollars(budget.amount),
    span: { kind: 'period', ...period },
    budget,
    period,
  };
};

/** Of the owner, id and start that name an allowance. */
export const budgetIdOf = (name: string): string =>
  name.slice(name.lastIndexOf('/') + 1, name.lastIndexOf(':'));

/** Its allowance changes with the period. */
class Live {
  readonly #budget: BudgetRecord;
  #allowance: BudgetAllowance;

  constructor(budget: BudgetRecord, now: number) {
    this.#budget = budget;
    this.#allowance = allowanceAt(budget, now);
  }

  at(now: number): BudgetAllowance {
    const { start, end = Number.POSITIVE_INFINITY } = this.#allowance.period;
    if (now >= end || now < start) this.#allowance = allowanceAt(this.#budget, now);
    return this.#allowance;
  }
}

interface Read {
  readonly all: readonly Live[];
  /** By `sub_…`, `key_…` and `#tag`, the last with the subscription before it where it has one. */
  readonly byTarget: ReadonlyMap<string, readonly Live[]>;
}

export const openBudgetsBook = async (
  state: State,
  options: WatchOptions,
  now: () => number = Date.now,
): Promise<BudgetsBook> => {
  const watched = await watchRecords(state, budgetKind, () => read(state, now()), options);
  return {
    of: (caller, now) => {
      const { byTarget } = watched.current();
      if (byTarget.size === 0) return undefined;
      const found: BudgetAllowance[] = [];
      const add = (target: string): void => {
        for (const live of byTarget.get(target) ?? []) found.push(live.at(now));
      };
      add(caller.subscription);
      add(caller.key);
      for (const tag of caller.tags ?? []) {
        add(`#${tag}`);
        add(`${caller.subscription}#${tag}`);
      }
      return found.length === 0 ? undefined : found;
    },
    get isEmpty() {
      return watched.current().all.length === 0;
    },
    all: (now) => watched.current().all.map((live) => live.at(now)),
    close: watched.close,
  };
};

const targetOf = ({ subscription = '', key, tag }: BudgetRecord): string =>
  key ?? (tag === undefined ? subscription : `${subscription}#${tag}`);

const read = async (state: State, now: number): Promise<Read> => {
  const all: Live[] = [];
  const byTarget = new Map<string, Live[]>();
  for await (const { value } of everyRecord<BudgetRecord>(state, budgetKind)) {
    // Nobody can make more.
    if (all.length >= mostBudgets) break;
    const live = new Live(value, now);
    all.push(live);
    const target = targetOf(value);
    byTarget.set(target, [...(byTarget.get(target) ?? []), live]);
  }
  return { all, byTarget };
};
