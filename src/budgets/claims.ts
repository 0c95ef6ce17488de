/** Claims of a call on the limits and budgets that it falls under, and what each of them used in the end. */
import { type LimitKind, type LimitNumbers, type TokenKind, tokenKinds } from '../../schemas/limits.ts';
import { nanodollars } from '../decimal.ts';
import type { LimitsBook } from '../limits/book.ts';
import { type Allowance, type Claim, Exhausted } from '../ports/allowances.ts';
import type { Caller } from '../ports/exchange.ts';
import type { MostUsed, Quoted, UsedQuantities } from '../ports/quotas.ts';
import type { BudgetAllowance, BudgetsBook } from './book.ts';

/** A limit of a key, or of a subscription and a model. */
export interface LimitAllowance extends Allowance {
  readonly kind: LimitKind;
  /** Undefined: it is the key's own. */
  readonly model: string | undefined;
}

export type NamedAllowance = LimitAllowance | BudgetAllowance;

/** What a claim counts. */
type Measure = 'requests' | 'tokens' | 'prompt' | 'completion' | 'cost';

export interface NamedClaim extends Claim {
  readonly allowance: NamedAllowance;
  readonly measure: Measure;
}

const minute = { kind: 'window', ms: 60_000 } as const;
const held = { kind: 'held' } as const;

const measures: Readonly<Record<TokenKind, Measure>> = {
  tokens_per_minute: 'tokens',
  prompt_tokens_per_minute: 'prompt',
  completion_tokens_per_minute: 'completion',
};

export const countsTokens = (limits: LimitNumbers): boolean =>
  limits.tokens_per_minute !== undefined ||
  limits.prompt_tokens_per_minute !== undefined ||
  limits.completion_tokens_per_minute !== undefined;

interface Books {
  readonly limits: Pick<LimitsBook, 'of'>;
  readonly budgets: Pick<BudgetsBook, 'of'>;
}

/** Empty where nothing limits the call. */
export const claimsOf = (
  { limits, budgets }: Books,
  caller: Caller,
  { task: { model }, account }: Quoted,
  now: number,
): readonly NamedClaim[] => {
  const claims: NamedClaim[] = [];
  const own = caller.limits;
  if (own?.concurrency !== undefined) claims.push(ofKey(caller.key, 'concurrency', own.concurrency));
  if (own?.requests_per_minute !== undefined)
    claims.push(ofKey(caller.key, 'requests_per_minute', own.requests_per_minute));
  const most = account?.most?.();
  if (most === undefined) return claims;
  if (own !== undefined && countsTokens(own)) addTokens(claims, most, own, caller.key, undefined);
  const ofModel = limits.of(caller.subscription, model.id, model.limits);
  if (countsTokens(ofModel)) addTokens(claims, most, ofModel, caller.subscription, model.id);
  if (most.cost > 0)
    for (const allowance of budgets.of(caller, now) ?? [])
      claims.push({ allowance, amount: most.cost, measure: 'cost' });
  return claims;
};

const ofKey = (key: string, kind: 'concurrency' | 'requests_per_minute', limit: number): NamedClaim => ({
  allowance: {
    name: `${key}/${kind}`,
    limit,
    span: kind === 'concurrency' ? held : minute,
    kind,
    model: undefined,
  },
  amount: 1,
  measure: 'requests',
});

const addTokens = (
  claims: NamedClaim[],
  most: MostUsed,
  limits: LimitNumbers,
  owner: string,
  model: string | undefined,
): void => {
  for (const kind of tokenKinds) {
    const limit = limits[kind];
    if (limit === undefined) continue;
    const measure = measures[kind];
    const name = model === undefined ? `${owner}/${kind}` : `${owner}/${kind}/${model}`;
    const allowance = { name, limit, span: minute, kind, model };
    claims.push({ allowance, amount: amountOf(measure, most), measure });
  }
};

export const amountOf = (measure: Measure, { prompt, completion, cost }: MostUsed): number => {
  switch (measure) {
    case 'requests':
      return 1;
    case 'tokens':
      return prompt + completion;
    case 'prompt':
      return prompt;
    case 'completion':
      return completion;
    case 'cost':
      return cost;
  }
};

/** A request without an event has used nothing but itself. */
export const usedBy = (event: UsedQuantities | undefined): MostUsed =>
  event === undefined
    ? nothing
    : {
        prompt: event.quantities.prompt_tokens,
        completion: event.quantities.completion_tokens,
        cost: nanodollars(event.cost),
      };

const nothing: MostUsed = { prompt: 0, completion: 0, cost: 0 };

/** Whether a prompt of fewer tokens might fit. */
export const isAboutPrompt = (claims: readonly NamedClaim[], error: unknown): boolean => {
  if (!(error instanceof Exhausted)) return false;
  const { name } = error.claim.allowance;
  const claim = claims.find(({ allowance }) => allowance.name === name);
  return claim?.measure === 'tokens' || claim?.measure === 'prompt';
};

/** With a prompt that was counted. Costs stay as they are: they are bounds, not estimates. */
export const withPrompt = (
  claims: readonly NamedClaim[],
  most: MostUsed | undefined,
  prompt: number,
): readonly NamedClaim[] => {
  if (most === undefined || prompt >= most.prompt) return claims;
  const counted = { ...most, prompt };
  return claims.map((claim) =>
    claim.measure === 'cost' ? claim : { ...claim, amount: amountOf(claim.measure, counted) },
  );
};
