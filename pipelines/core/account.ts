/** What an admitted request has used, and the usage event made of it. */
import type { Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { secondsCost, tokenCost } from '../../src/billing/cost.ts';
import type { PooledCopies } from '../../src/helpers/buffer-pool.ts';
import type { Lease, LeaseUsage } from '../../src/ports/admission.ts';
import type { TokenUsage } from '../../src/ports/engines/chat.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { PromptSource, Quota } from '../../src/ports/quotas.ts';

/** A request that holds a slot. Stages that need less of the exchange say so. */
export interface Leased<From = Exchange> {
  readonly exchange: From;
  readonly caller: Caller;
  readonly lease: Lease;
  /** All three are set by `withAccount`; without a quota, nothing limits what it uses. */
  task: unknown;
  account: unknown;
  quota: Quota | undefined;
  /** Of an engine's response that is sent as it came; set by `callEngine`. */
  copies: PooledCopies | undefined;
}

/** A request that holds a slot, and whose usage is counted. */
export interface Admitted<Task, Uses = unknown, From = Exchange> {
  readonly exchange: From;
  readonly caller: Caller;
  readonly task: Task;
  readonly lease: Lease;
  readonly account: Uses;
}

/** Counts the parts of a response for its usage event. */
export interface Account<Part> extends UsageSource {
  add(part: Part): void;
}

/** `most`: of the call of the task, and of any fallback as far as it is known. */
export interface UsageSource extends PromptSource {
  /** What the lease is released with; undefined where nothing was counted in tokens. */
  tokens?(): LeaseUsage | undefined;
  /** On the clock of `performance.now`; undefined: there is none yet, or it is not known. */
  readonly firstTokenAt?: number | undefined;
  /** Completes when what no engine has counted is counted; undefined where it is known, or not worth it. */
  counted?(): Observable<never> | undefined;
  event(outcome: Outcome, status: number): UsageEvent;
}

export type Outcome = UsageEvent['outcome'];

/** What an account is opened with: everything an event says beside the counts. */
export interface Billed<Task extends { readonly model: Model } = Answered> {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly caller: Caller;
  readonly task: Task;
  readonly lease: Lease;
}

interface Answered {
  /** Whose engine was called last: it is billed. */
  readonly model: Model;
  /** The one that was asked for, where `model` is a fallback of it. */
  readonly requested?: Model;
}

export interface Counts {
  readonly tokens?: TokenUsage;
  /** Texts embedded, questions decided. */
  readonly inputs?: number;
  /** Of sound made or read, rounded up; what a model of sound is billed by. */
  readonly seconds?: number;
  readonly delivered?: number;
  /** Both on the clock of `performance.now`. */
  readonly started: number;
  readonly firstToken?: number | undefined;
}

/** Of a request whose usage is not recorded. */
export const noAccount = (): undefined => undefined;

export const noTokens: TokenUsage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

/** `route` is the path below `/v1`. Failures cost nothing. */
export const usageEvent = (
  route: string,
  { exchange, caller, task: { model, requested }, lease }: Billed,
  outcome: Outcome,
  status: number,
  counts: Counts,
): UsageEvent => {
  const { tokens = noTokens, seconds, delivered = 0, started, firstToken } = counts;
  const waited = Math.round(lease.waited);
  const event: UsageEvent = {
    schema: 1,
    id: `usage_${exchange.id}`,
    time: Date.now(),
    request_id: exchange.id,
    subscription: caller.subscription,
    key: caller.key,
    route,
    model: model.id,
    engine: model.engine,
    outcome,
    status,
    quantities: quantitiesOf(tokens, counts),
    generated_tokens: tokens.completion,
    delivered_tokens: delivered,
    price: model.pricing,
    cost: outcome === 'failed' ? '0' : costOfCounts(model, tokens, seconds),
    queued_ms: waited,
    first_token_ms: firstToken === undefined ? null : waited + Math.round(firstToken - started),
    total_ms: waited + Math.round(performance.now() - started),
  };
  return requested === undefined ? event : { ...event, requested_model: requested.id };
};

const quantitiesOf = (usage: TokenUsage, { inputs, seconds }: Counts): UsageEvent['quantities'] => {
  const tokens = {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    cached_tokens: usage.cached,
    reasoning_tokens: usage.reasoning,
  };
  if (inputs === undefined && seconds === undefined) return tokens;
  return {
    ...tokens,
    ...(inputs === undefined ? {} : { inputs }),
    ...(seconds === undefined ? {} : { seconds: String(seconds) }),
  };
};

const costOfCounts = ({ pricing }: Model, tokens: TokenUsage, seconds: number | undefined): string =>
  seconds === undefined ? tokenCost(tokens, pricing) : secondsCost(seconds, pricing);
