/** Claims of a call on the limits and budgets that it falls under, and what each of them used in the end. */
import { type LimitKind, type LimitNumbers, limitKinds, tokenKinds } from '../../schemas/limits.ts';
import { nanodollars } from '../helpers/decimal.ts';
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

const measures: Readonly<Record<LimitKind, Measure>> = {
  concurrency: 'requests',
  requests_per_minute: 'requests',
  tokens_per_minute: 'tokens',
  prompt_tokens_per_minute: 'prompt',
  completion_tokens_per_minute: 'completion',
};

export const isOfTokens = (measure: Measure): boolean =>
  measure === 'tokens' || measure === 'prompt' || measure === 'completion';

export const countsTokens = (limits: LimitNumbers): boolean =>
  limits.tokens_per_minute !== undefined ||
  limits.prompt_tokens_per_minute !== undefined ||
  limits.completion_tokens_per_minute !== undefined;

interface Books {
  readonly limits: Pick<LimitsBook, 'of'>;
  readonly budgets: Pick<BudgetsBook, 'of'>;
}

const none: readonly NamedClaim[] = [];

/** Empty where nothing limits the call. */
export const claimsOf = (
  { limits, budgets }: Books,
  caller: Caller,
  { task: { model }, account }: Quoted,
  now: number,
): readonly NamedClaim[] => {
  const numbers = limits.of(caller.subscription, model.id, model.limits);
  const spending = budgets.of(caller, now) ?? [];
  // Others may be limited, and this request not: what it can use at most is not worked out for nothing.
  if (caller.limits === undefined && !countsTokens(numbers) && spending.length === 0) return none;
  const claims: NamedClaim[] = [];
  const most = account?.most?.();
  if (caller.limits !== undefined) addLimits(claims, most, ofKey(caller.limits, caller));
  if (most === undefined) return claims;
  if (countsTokens(numbers)) addLimits(claims, most, ofModel(numbers, caller.subscription, model.id));
  if (most.cost > 0)
    for (const allowance of spending) claims.push({ allowance, amount: most.cost, measure: 'cost' });
  return claims;
};

const addLimits = (
  claims: NamedClaim[],
  most: MostUsed | undefined,
  allowances: readonly LimitAllowance[],
): void => {
  for (const allowance of allowances) {
    const measure = measures[allowance.kind];
    if (measure === 'requests') claims.push({ allowance, amount: 1, measure });
    else if (most !== undefined) claims.push({ allowance, amount: amountOf(measure, most), measure });
  }
};

const kinds = Object.keys(limitKinds) as readonly LimitKind[];

/** By the numbers of a caller, which are the same object for some seconds: names are hashed once. */
const keysLimits = new WeakMap<LimitNumbers, readonly LimitAllowance[]>();

const ofKey = (numbers: LimitNumbers, { subscription, key }: Caller): readonly LimitAllowance[] => {
  const known = keysLimits.get(numbers);
  if (known !== undefined) return known;
  const made = allowancesOf(numbers, kinds, `${subscription}/${key}`, undefined);
  keysLimits.set(numbers, made);
  return made;
};

/** By the numbers of a model, and the subscription. */
const modelsLimits = new WeakMap<LimitNumbers, Map<string, readonly LimitAllowance[]>>();
const mostSubscriptions = 10_000;

const ofModel = (numbers: LimitNumbers, subscription: string, model: string): readonly LimitAllowance[] => {
  let bySubscription = modelsLimits.get(numbers);
  if (bySubscription === undefined || bySubscription.size >= mostSubscriptions) {
    bySubscription = new Map();
    modelsLimits.set(numbers, bySubscription);
  }
  const known = bySubscription.get(subscription);
  if (known !== undefined) return known;
  const made = allowancesOf(numbers, tokenKinds, subscription, model);
  bySubscription.set(subscription, made);
  return made;
};

const allowancesOf = (
  numbers: LimitNumbers,
  of: readonly LimitKind[],
  owner: string,
  model: string | undefined,
): readonly LimitAllowance[] =>
  of.flatMap((kind) => {
    const limit = numbers[kind];
    if (limit === undefined) return [];
    const name = model === undefined ? `${owner}/${kind}` : `${owner}/${kind}/${model}`;
    return [{ name, limit, span: kind === 'concurrency' ? held : minute, kind, model }];
  });

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
