/** Who asked for what and how much it took in; the usage event of the request out, and the way it is kept: once, however the request ends. */
import type { Observable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { secondsCost, tokenCost } from '../../src/billing/cost.ts';
import { asApiError } from '../../src/errors.ts';
import type { Lease } from '../../src/ports/admission.ts';
import type { TokenUsage } from '../../src/ports/chat.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { UsageLog } from '../../src/ports/usage.ts';

/** Everything an event says beside the counts. */
export interface Metered<Task extends { readonly model: Model }> {
  readonly exchange: Pick<Exchange, 'id' | 'log'>;
  readonly caller: Caller;
  /** Path of the route below `/v1`. */
  readonly route: string;
  readonly task: Task;
  readonly lease: Lease;
}

export interface Counts {
  readonly usage: TokenUsage;
  /** Texts embedded, questions decided. */
  readonly inputs?: number;
  /** Of sound made or read, rounded up; what a model of sound is billed by. */
  readonly seconds?: number;
  readonly delivered: number;
  /** Both on the clock of `performance.now`. */
  readonly started: number;
  readonly firstToken: number | undefined;
}

export type Outcome = UsageEvent['outcome'];

/** Knows what a request has taken by the time it ends. */
export interface Account {
  event(outcome: Outcome, status: number): UsageEvent;
}

/** What the log says of a client that closed the connection; no answer carries it. */
const clientClosed = 499;

/** Failures cost nothing. */
export const usageEvent = (
  { exchange, caller, route, task, lease }: Metered<{ readonly model: Model }>,
  outcome: Outcome,
  status: number,
  counts: Counts,
): UsageEvent => {
  const { usage, seconds, delivered, started, firstToken } = counts;
  const { model } = task;
  const waited = Math.round(lease.waited);
  return {
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
    quantities: quantitiesOf(counts),
    generated_tokens: usage.completion,
    delivered_tokens: delivered,
    price: model.pricing,
    cost: outcome === 'failed' ? '0' : costOfCounts(model, usage, seconds),
    queued_ms: waited,
    first_token_ms: firstToken === undefined ? null : waited + Math.round(firstToken - started),
    total_ms: waited + Math.round(performance.now() - started),
  };
};

const quantitiesOf = ({ usage, inputs, seconds }: Counts): UsageEvent['quantities'] => {
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

const costOfCounts = ({ pricing }: Model, usage: TokenUsage, seconds: number | undefined): string =>
  seconds === undefined ? tokenCost(usage, pricing) : secondsCost(seconds, pricing);

/** Makes the event when the request has ended, and hands it to the log. */
export class UsageRecord {
  /** The event is on its way: nothing that happens now changes it. */
  ended = false;
  readonly #log: UsageLog;
  readonly #exchange: Pick<Exchange, 'log'>;
  readonly #account: Account;

  constructor(log: UsageLog, exchange: Pick<Exchange, 'log'>, account: Account) {
    this.#log = log;
    this.#exchange = exchange;
    this.#account = account;
  }

  /** To be subscribed to; not undone when the client leaves meanwhile. */
  completed(): Observable<void> {
    return this.#keep('completed', 200);
  }

  failed(error: unknown): Observable<void> {
    return this.#keep('failed', asApiError(error).status);
  }

  /** The client left, unless all was over by then. */
  left(): void {
    if (this.ended) return;
    this.#keep('cancelled', clientClosed).subscribe({
      error: (error) => this.#exchange.log.error({ err: error }, 'usage of a cancelled request was not kept'),
    });
  }

  #keep(outcome: Outcome, status: number): Observable<void> {
    this.ended = true;
    return this.#log.record(this.#account.event(outcome, status));
  }
}
