/** Claims as the script reads them, and decisions as it writes them. */
import type { Allowance, Claim } from '../../ports/allowances.ts';
import { micro } from '../redis-processes.ts';

/** Of each period claimed, in order: settled, and used in all. */
export type Sums = readonly number[];

export type Decision =
  /** `left` of each claim's allowance; none where it was reserved before. */
  | { readonly kind: 'reserved'; readonly left: readonly number[]; readonly sums: Sums }
  /** `waitMs` is negative where time alone does not help. */
  | { readonly kind: 'exhausted'; readonly index: number; readonly left: number; readonly waitMs: number }
  | { readonly kind: 'unseeded'; readonly indexes: readonly number[] }
  /** The data, since it was last seen; or the id is in use. */
  | { readonly kind: 'lost' | 'taken' };

export type DecisionReply = [Decision['kind'], ...number[]];

/** Indexes begin with 1 there. */
export const decisionOf = ([kind, ...numbers]: DecisionReply): Decision => {
  if (kind === 'reserved') {
    const [claims = 0, ...rest] = numbers;
    return { kind, left: rest.slice(0, claims), sums: rest.slice(claims) };
  }
  const [index = 0, left = 0, wait = -1] = numbers;
  if (kind === 'unseeded') return { kind, indexes: numbers.map((each) => each - 1) };
  if (kind === 'exhausted') return { kind, index: index - 1, left, waitMs: wait / 1000 };
  return { kind };
};

/** As the script reads a claim. */
export const wordsOf = ({ allowance: { name, limit, span }, amount }: Claim): (string | number)[] => [
  span.kind,
  name,
  limit,
  amount,
  spanOf(span),
];

export const spanOf = (span: Allowance['span']): number | '' => {
  if (span.kind === 'held') return '';
  if (span.kind === 'window') return micro(span.ms);
  return span.end === undefined ? '' : micro(span.end);
};
