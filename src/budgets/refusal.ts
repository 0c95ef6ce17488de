/** The error of a call that could exceed a limit or a budget: 429, with what is left and when to come back. */
import type { BudgetPeriod } from '../../schemas/budgets.ts';
import { type LimitKind, limitKinds } from '../../schemas/limits.ts';
import { type ApiError, fail, type LimitWindow } from '../errors.ts';
import { dollars } from '../helpers/decimal.ts';
import type { Exhausted } from '../ports/allowances.ts';
import type { BudgetAllowance } from './book.ts';
import type { LimitAllowance, NamedClaim } from './claims.ts';

type Refused = Pick<Exhausted, 'left' | 'retryMs'>;

export const refusal = (claim: NamedClaim, refused: Refused, now: number): ApiError =>
  'budget' in claim.allowance
    ? budgetSpent(claim.allowance, claim.amount, refused, now)
    : limitReached(claim.allowance, claim.amount, refused, now);

const periods: Readonly<Record<BudgetPeriod, string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
};

/** Waiting helps only where the budget resets, and is large enough for this call then. */
const budgetSpent = (
  { budget, limit, period: { end } }: BudgetAllowance,
  amount: number,
  { left }: Refused,
  now: number,
): ApiError => {
  const name = `budget ${budget.id} of ${budget.amount} USD ${periods[budget.period]}`;
  const never = end === undefined || amount > limit;
  const sentence =
    amount > limit
      ? `This request could cost ${dollars(amount)} USD, more than the ${name}`
      : `This request could cost ${dollars(amount)} USD, and the ${name} has ${dollars(left)} USD left${end === undefined ? '' : `; it resets at ${new Date(end).toISOString()}`}`;
  return fail('rate_limited', sentence, {
    ...(never ? { isFinal: true } : { headers: retryAfter(end - now) }),
    metadata: {
      budget: {
        id: budget.id,
        period: budget.period,
        limit: budget.amount,
        remaining: dollars(left),
        resets_at: end === undefined ? null : Math.floor(end / 1000),
      },
    },
  });
};

const limitReached = (
  { kind, model, limit }: LimitAllowance,
  amount: number,
  { left, retryMs }: Refused,
  now: number,
): ApiError => {
  const { unit } = limitKinds[kind];
  const whose = model === undefined ? 'of this API key' : `for model ${model}`;
  const never = amount > limit;
  const sentence = never
    ? `This request could take ${amount} tokens, more than the limit of ${limit} ${unit} ${whose}`
    : `The limit of ${limit} ${unit} ${whose} is reached: ${left} left${countsRequests(kind) ? '' : `, this request could take ${amount}`}`;
  return fail('rate_limited', sentence, {
    ...(kind === 'concurrency' ? {} : { window: windowOf(kind, limit, left) }),
    // Requests at once end when they end: soon, as far as anybody knows.
    ...(never ? { isFinal: true } : { headers: retryAfter(retryMs ?? 1000) }),
    metadata: {
      limit: {
        kind,
        scope: model === undefined ? 'key' : 'subscription',
        ...(model === undefined ? {} : { model }),
        limit,
        remaining: left,
        resets_at: retryMs === undefined ? null : Math.ceil((now + retryMs) / 1000),
      },
    },
  });
};

/** When all of it is available again is not known. */
const windowOf = (kind: LimitKind, limit: number, remaining: number): LimitWindow => ({
  ...(countsRequests(kind) ? {} : { unit: 'tokens' }),
  limit,
  remaining,
  resetAt: undefined,
});

const countsRequests = (kind: LimitKind): boolean => kind === 'concurrency' || kind === 'requests_per_minute';

const retryAfter = (milliseconds: number) => ({
  'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))),
});
