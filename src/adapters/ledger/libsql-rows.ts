/** A usage event in; its row in the embedded ledger out. Sums hold what is billed: nothing of a request that failed. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { rescale, toScaled } from '../../billing/decimal.ts';
import type { SqlValue } from '../sqlite.ts';

const width = 17;
const marks = `(${Array(width).fill('?').join(',')})`;

export const insertSql = (rows: number): string =>
  `INSERT INTO usage VALUES ${Array(rows).fill(marks).join(',')} ON CONFLICT (id) DO NOTHING`;

export const rowOf = (event: UsageEvent): SqlValue[] => {
  const failed = event.outcome === 'failed';
  const { quantities } = event;
  const count = (value = 0): number => (failed ? 0 : value);
  const [cost, rest] = splitCost(event.cost);
  return [
    event.id,
    event.time,
    event.subscription,
    event.model,
    event.key,
    event.route,
    failed ? 1 : 0,
    count(quantities.prompt_tokens),
    count(quantities.completion_tokens),
    count(quantities.cached_tokens),
    count(quantities.reasoning_tokens),
    count(quantities.inputs),
    failed ? 0 : billionths(quantities.megapixels),
    failed ? 0 : billionths(quantities.seconds),
    cost,
    rest,
    JSON.stringify(event),
  ];
};

const billionths = (measure: string | undefined): bigint | number =>
  measure === undefined ? 0 : rescale(toScaled(measure), 9);

/** Whole billionths of a dollar, and the rest in 10⁻¹⁸: sums of both stay far below the database's largest number. */
const splitCost = (cost: string): [bigint | number, number] => {
  if (cost === '0') return [0, 0];
  const finest = rescale(toScaled(cost), 18);
  return [finest / 1_000_000_000n, Number(finest % 1_000_000_000n)];
};

export const joinCost = (billionths: bigint, rest: bigint) => ({
  units: billionths * 1_000_000_000n + rest,
  scale: 18,
});
