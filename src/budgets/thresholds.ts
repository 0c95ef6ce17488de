/** Watches how much of each budget is used: for metrics, and for webhooks when a threshold is reached. */
import type { Logger } from 'pino';
import type { BudgetRecord } from '../../schemas/budgets.ts';
import { dollars } from '../helpers/decimal.ts';
import { PollLoop } from '../helpers/poll-loop.ts';
import type { Allowances } from '../ports/allowances.ts';
import type { BudgetAllowance, BudgetsBook } from './book.ts';
import type { QuotaStats } from './stats.ts';

/** Percent. */
const thresholds = [50, 80, 95] as const;

/** A webhook that is sent once, however often it is given. */
interface ThresholdNotice {
  readonly id: string;
  readonly budget: string;
  readonly type: 'budget.threshold_reached';
  readonly subscription: string;
  readonly url: string;
  readonly body: string;
}

interface ThresholdParts {
  readonly allowances: Pick<Allowances, 'used'>;
  readonly budgets: BudgetsBook;
  readonly stats: QuotaStats;
  readonly notify: (notice: ThresholdNotice) => Promise<void>;
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** Looks at those that calls of this process have used since the last look. */
export const watchThresholds = (parts: ThresholdParts, intervalMs = 2_000): PollLoop =>
  new PollLoop(
    intervalMs,
    () => checkThresholds(parts),
    (error) => parts.log.warn({ err: error }, 'budgets not looked at'),
  );

export const checkThresholds = async (parts: ThresholdParts): Promise<void> => {
  const { allowances, budgets, stats, notify, now = Date.now } = parts;
  const touched = stats.takeTouched();
  if (touched.size === 0) return;
  const current = budgets.all(now()).filter(({ name }) => touched.has(name));
  try {
    const all = await allowances.used(current);
    for (const [index, allowance] of current.entries()) {
      const { used = 0, reserved = 0 } = all[index] ?? {};
      const settled = used - reserved;
      stats.setRatio(allowance.budget.id, settled / allowance.limit);
      for (const notice of noticesOf(allowance, settled, now())) await notify(notice);
    }
  } catch (error) {
    // Next time.
    for (const name of touched) stats.touch(name);
    throw error;
  }
};

const noticesOf = (
  { budget, limit, period }: BudgetAllowance,
  used: number,
  now: number,
): readonly ThresholdNotice[] => {
  const { id, subscription, callback_url: url } = budget;
  if (url === undefined || subscription === undefined) return [];
  const reached = thresholds.filter((percent) => used * 100 >= limit * percent);
  return reached.map((threshold) => ({
    id: `${id}-${period.start}-${threshold}`,
    budget: id,
    type: 'budget.threshold_reached',
    subscription,
    url,
    body: JSON.stringify({
      type: 'budget.threshold_reached',
      created_at: Math.floor(now / 1000),
      data: {
        object: 'budget',
        ...shown(budget),
        threshold,
        used: dollars(used),
        resets_at: period.end === undefined ? null : Math.floor(period.end / 1000),
      },
    }),
  }));
};

const shown = ({ callback_url: _, ...budget }: BudgetRecord) => budget;
