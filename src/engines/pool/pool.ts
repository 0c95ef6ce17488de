/** The replicas of one engine: queues calls while all are full, ejects those that fail, drains those that leave. */
import type { Logger } from 'pino';
import type { ApiError } from '../../errors.ts';
import { FairQueue } from '../../helpers/fair-queue.ts';
import { Pace, retryAfter } from '../../helpers/pace.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { milliseconds } from '../duration.ts';
import { rowDefaults } from '../effective-row.ts';
import type { EngineReader } from '../engine-call.ts';
import { EngineError } from '../engine-error.ts';
import { errorText } from '../error-text.ts';
import type { EngineRequest } from './dispatch.ts';
import { LeastBusy } from './policies/least-busy.ts';
import type { Policy, PolicyStats, RoutedCall } from './policies/policy.ts';
import { PooledCall } from './pooled-call.ts';
import type { Circuit, Replica } from './replica.ts';
import { RetryBudget } from './retry-budget.ts';
import { type QueueRules, queueRules, type RetryRules, retryRules } from './rules.ts';

/** How long a client should wait while there is no replica at all. */
const EMPTY_WAIT_MS = 1000;

export interface PoolStats extends PolicyStats {
  /** Queued calls. */
  readonly waiting: number;
  /** Retries so far that count against the budget, and those that it did not allow. */
  readonly retries: { readonly made: number; readonly refused: number };
  /** Streams that broke off: those that went on elsewhere, and those that could not; only where the row lets them. */
  readonly continuations: { readonly made: number; readonly failed: number };
  readonly replicas: readonly ReplicaStats[];
}

interface ReplicaStats {
  readonly url: string;
  readonly circuit: Circuit;
  /** Calls in flight. */
  readonly busy: number;
  /** What clients and logs call it. */
  readonly alias: string;
  /** Taken out by an operator. */
  readonly drained: boolean;
  /** Unix milliseconds; undefined: its circuit is closed. */
  readonly openSince: number | undefined;
  readonly cooldownMs: number;
  /** The last failure that counted for its circuit, in Unix milliseconds. */
  readonly lastError: { readonly time: number; readonly message: string } | undefined;
  readonly weight: number;
  /** Part of its weight that counts now; less than 1 during slow start. */
  readonly share: number;
  readonly promptBlocks: number;
  readonly cachedBlocks: number;
}

export interface PoolOptions extends Partial<QueueRules> {
  /** Least busy unless given. */
  readonly policy?: Policy;
  /** In which the weight of a replica that joins later grows to its full. */
  readonly slowStartMs?: number;
  /** None unless given. */
  readonly replicas?: readonly Replica[];
  /** Calls in flight on one replica, at most. */
  readonly concurrency: number;
  readonly log: Logger;
  readonly retries?: RetryRules;
}

const usualQueue = queueRules();

export class ReplicaPool {
  readonly waitMs: number;
  readonly retries: RetryRules;
  readonly budget: RetryBudget;
  readonly continuations = { made: 0, failed: 0 };
  readonly #policy: Policy;
  readonly #slowStartMs: number;
  readonly #concurrency: number;
  readonly #log: Logger;
  readonly #queue: FairQueue<PooledCall>;
  readonly #pace = new Pace(performance.now());
  #replicas: readonly Replica[];
  /** Those that can take the call for which one is being picked. */
  readonly #candidates: Replica[] = [];
  /** Replicas that left and still have calls. */
  readonly #draining = new Set<Promise<void>>();
  #startingWaiters = false;

  constructor({
    replicas = [],
    policy = new LeastBusy(),
    slowStartMs = milliseconds(rowDefaults.slow_start),
    concurrency,
    log,
    retries = retryRules(),
    queueLength = usualQueue.queueLength,
    waitMs = usualQueue.waitMs,
  }: PoolOptions) {
    this.#replicas = replicas;
    this.#policy = policy;
    this.#slowStartMs = slowStartMs;
    this.waitMs = waitMs;
    this.retries = retries;
    this.budget = new RetryBudget(retries);
    this.#concurrency = concurrency;
    this.#log = log;
    this.#queue = new FairQueue(queueLength);
  }

  /** Throws `unavailable` when every replica is ejected or the queue is full. The reader is called only after it returns. */
  send(request: EngineRequest, flow: Flow, reader: EngineReader): PooledCall {
    const call = new PooledCall(this, request, flow, reader);
    if (this.#queue.size === 0 && call.start()) return call;
    if (this.health() === 'down' || !this.#queue.enqueue(call)) throw this.refusal();
    call.wait();
    return call;
  }

  get replicas(): readonly Replica[] {
    return this.#replicas;
  }

  /** New ones start slowly; those that are missing take no more calls, and drain. */
  setReplicas(next: readonly Replica[], now = performance.now()): void {
    const before = this.#replicas;
    this.#replicas = next;
    for (const replica of next) {
      // The first ones: there is nothing that a slow one could leave its calls to.
      if (before.length === 0 || before.includes(replica)) continue;
      replica.share.startSlowly(now, this.#slowStartMs);
      this.#log.info({ replica: replica.url }, 'replica joined');
    }
    for (const replica of before) if (!next.includes(replica)) this.#drain(replica);
    this.startWaiters();
  }

  /** By an operator: those at this address get no more calls, or get them again. False: there is none. */
  setDrained(url: string, drained: boolean): boolean {
    const found = this.#replicas.filter((replica) => replica.url === url);
    for (const replica of found) {
      if (replica.drained === drained) continue;
      replica.drained = drained;
      if (drained) this.#policy.forget(replica);
      this.#log.info(
        { replica: url, calls: replica.busy },
        drained ? 'replica drained' : 'replica undrained',
      );
    }
    this.startWaiters();
    return found.length > 0;
  }

  #drain(replica: Replica): void {
    this.#policy.forget(replica);
    this.#log.info({ replica: replica.url, calls: replica.busy }, 'replica left');
    const drained = replica.drain().finally(() => this.#draining.delete(drained));
    this.#draining.add(drained);
  }

  /** One that can take the call and was not tried yet. */
  pick(call: RoutedCall, now = performance.now()): Replica | undefined {
    const [first, second] = this.#replicas;
    // Where there is no choice, nothing is computed.
    if (first !== undefined && second === undefined)
      return first.canTake(now, this.#concurrency) && !call.tried.includes(first) ? first : undefined;
    const candidates = this.#candidates;
    candidates.length = 0;
    for (const replica of this.#replicas)
      if (replica.canTake(now, this.#concurrency) && !call.tried.includes(replica)) candidates.push(replica);
    return candidates.length === 0 ? undefined : this.#policy.choose(candidates, call, now);
  }

  /** The replica that an address belongs to, and the path there; relative addresses belong to the first. */
  own(url: string): { readonly replica: Replica; readonly path: string } | undefined {
    const [first] = this.replicas;
    if (first === undefined || !URL.canParse(url, first.url)) return undefined;
    const { origin, pathname, search } = new URL(url, first.url);
    const replica = this.#replicas.find((each) => new URL(each.url).origin === origin);
    return replica && { replica, path: pathname + search };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#draining, ...this.#replicas.map((replica) => replica.dispatch.close())]);
  }

  // ── the queue ──────────────────────────────────────────────────────────────────────────────────

  dequeue(call: PooledCall): void {
    this.#queue.remove(call);
  }

  /** A call whose replica failed waits for another that is only busy. False when there is none, or the queue is full. */
  requeue(call: PooledCall): boolean {
    if (!this.#hasReplicaFor(call) || !this.#queue.enqueue(call)) return false;
    call.wait();
    return true;
  }

  #hasReplicaFor({ tried }: PooledCall): boolean {
    return this.#replicas.some((replica) => replica.inService && !tried.includes(replica));
  }

  /** Starts waiters while replicas are free. A call that ends inside this loop is noticed by it. */
  startWaiters(): void {
    if (this.#startingWaiters || this.#queue.size === 0) return;
    this.#startingWaiters = true;
    for (let call = this.#queue.first(); call !== undefined; call = this.#queue.first()) {
      if (call.start()) this.#queue.dequeue(call);
      else if (this.#hasReplicaFor(call)) break;
      else {
        this.#queue.remove(call);
        call.rejected();
      }
    }
    this.#startingWaiters = false;
  }

  released(heldMs: number, now: number): void {
    this.#pace.released(heldMs, now);
  }

  /** `retry-after`: when the queue should have been served, or the first cooldown is over. */
  refusal(now = performance.now()): EngineError {
    const healthy = this.#replicas.filter((replica) => replica.inService).length;
    // Without a limit there are endless slots, but none on replicas that are ejected.
    const wait = this.#replicas.every(({ drained }) => drained)
      ? EMPTY_WAIT_MS
      : healthy === 0
        ? Math.min(...this.#replicas.filter(({ drained }) => !drained).map((each) => each.cooldownLeft(now)))
        : this.#pace.estimate(this.#queue.size + 1, this.#concurrency * healthy, now);
    return new EngineError(
      'unavailable',
      healthy === 0 ? 'The model is unavailable, try again' : 'The model is busy, try again',
      { retry: 'never', fault: 'none', fallback: healthy === 0 ? 'down' : 'queue_full' },
      { headers: retryAfter(wait) },
    );
  }

  // ── health ─────────────────────────────────────────────────────────────────────────────────────

  health(): 'ok' | 'down' {
    return this.#replicas.some((replica) => replica.inService) ? 'ok' : 'down';
  }

  stats(): PoolStats {
    const now = performance.now();
    return {
      ...this.#policy.stats(),
      waiting: this.#queue.size,
      retries: { made: this.budget.made, refused: this.budget.refused },
      continuations: { ...this.continuations },
      replicas: this.#replicas.map((replica) => statsOf(replica, now)),
    };
  }

  succeeded(replica: Replica): void {
    if (!replica.succeeded()) return;
    this.#log.info({ replica: replica.url }, 'replica recovered');
    this.startWaiters();
  }

  failed(replica: Replica, error: ApiError): void {
    if (!(error instanceof EngineError)) return;
    if (error.misconfigured)
      this.#log.error({ replica: replica.url, err: error.cause }, 'engine refuses the gateway');
    if (error.fault === 'none') return;
    replica.lastError = { time: Date.now(), message: errorText(error.cause ?? error) };
    // The last one is kept while it responds to other calls.
    if (replica.answering > 0 && !this.#replicas.some((other) => other !== replica && other.inService))
      return;
    if (!replica.failed(error.fault, performance.now())) return;
    // Most likely restarted by the time it is back.
    if (error.fault === 'connection') this.#policy.forget(replica);
    const { url, cooldownMs } = replica;
    this.#log.warn({ replica: url, cooldownMs, err: error.cause }, 'replica ejected');
  }

  /** A reader whose outcome counts for the replica's circuit breaker. */
  reporting(replica: Replica, reader: EngineReader): EngineReader {
    return {
      head: (head) => reader.head(head),
      bytes: (bytes, last) => reader.bytes(bytes, last),
      end: () => {
        this.succeeded(replica);
        reader.end();
      },
      error: (error) => {
        this.failed(replica, error);
        reader.error(error);
      },
    };
  }
}

const statsOf = (replica: Replica, now: number): ReplicaStats => {
  const { url, alias, circuit, busy, drained, openedAt, lastError, share } = replica;
  const { weight, promptBlocks, cachedBlocks } = share;
  return {
    ...{ url, alias, circuit, busy, drained, lastError, weight, promptBlocks, cachedBlocks },
    openSince: openedAt === undefined ? undefined : Math.round(Date.now() - now + openedAt),
    cooldownMs: Math.round(replica.cooldownLeft(now)),
    share: share.weightAt(now) / weight,
  };
};
