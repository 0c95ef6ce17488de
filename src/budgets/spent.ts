/** Sums up what was spent of a budget in a period, from the ledger. */
import type { BudgetRecord } from '../../schemas/budgets.ts';
import type { KeyRecord } from '../../schemas/records.ts';
import { nanodollars } from '../helpers/decimal.ts';
import { everyRecord } from '../helpers/stored-records.ts';
import type { Allowance } from '../ports/allowances.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import { budgetIdOf } from './book.ts';
import { budgetKind } from './manage.ts';
import type { PeriodSpan } from './period.ts';

interface SpentParts {
  readonly state: State;
  readonly ledger: Pick<Ledger, 'totals'>;
  /** Resolves when the ledger has what was recorded until now. */
  readonly ship: () => Promise<void>;
}

/** Nanodollars: what allowances of budgets begin with. */
export const createSpent =
  ({ state, ledger, ship }: SpentParts) =>
  async ({ name, span }: Allowance): Promise<number> => {
    const budget = (await state.get<BudgetRecord>(budgetKind, budgetIdOf(name)))?.value;
    // Removed: only jobs that were reserved before still count, for nobody.
    if (budget === undefined || span.kind !== 'period') return 0;
    await ship();
    return spentOf({ state, ledger }, budget, span);
  };

const pageSize = 1000;
/** After the last event that a ledger takes. */
const farAway = 4_102_444_800_000;

/** By the time at which calls ended. */
export const spentOf = async (
  { state, ledger }: Omit<SpentParts, 'ship'>,
  budget: BudgetRecord,
  { start, end = farAway }: PeriodSpan,
): Promise<number> => {
  const { subscription } = budget;
  const filter = { from: start, to: end, ...(subscription === undefined ? {} : { subscription }) };
  const counts = await keysOf(state, budget);
  let spent = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const page = await ledger.totals(filter, ['key'], {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    for (const { group, cost } of page) if (counts(group[0] ?? '')) spent += nanodollars(cost);
    after = page.at(-1)?.group;
    if (page.length < pageSize) return spent;
  }
};

/** A tag is that of the keys that have it now. */
const keysOf = async (
  state: State,
  { subscription, key, tag }: Pick<BudgetRecord, 'subscription' | 'key' | 'tag'>,
): Promise<(id: string) => boolean> => {
  if (key !== undefined) return (id) => id === key;
  if (tag === undefined) return () => true;
  const tagged = new Set<string>();
  for await (const { value } of everyRecord<KeyRecord>(state, 'key', subscription))
    if (value.tags?.includes(tag) === true) tagged.add(value.id);
  return (id) => tagged.has(id);
};
