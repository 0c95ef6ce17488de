/** One call to an engine: waits for a replica, retries on another until a response begins. */

import type { Waiter } from '../../helpers/fair-queue.ts';
import type { Place } from '../../helpers/queue.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import type { CallSpan } from '../../ports/trace.ts';
import type { EngineCall, EngineHead, EngineReader } from '../engine-call.ts';
import type { EngineError } from '../engine-error.ts';
import type { EngineRequest } from './dispatch.ts';
import type { PromptCall, RoutedCall } from './policies/policy.ts';
import type { ReplicaPool } from './pool.ts';
import type { Replica } from './replica.ts';

const none: readonly Replica[] = [];

export class PooledCall implements EngineReader, EngineCall, Waiter<PooledCall>, RoutedCall {
  place: Place<PooledCall> | undefined;
  readonly #pool: ReplicaPool;
  readonly #request: EngineRequest;
  readonly #flow: Flow;
  readonly #reader: EngineReader;
  uncached = 0;
  #attempts = 0;
  #tried: readonly Replica[] = none;
  /** Some servers close connections after a response without saying so: the next idle one may be stale as well. */
  #metStale = false;
  /** Where it runs now, and where it ran last. */
  #replica: Replica | undefined;
  #latest: Replica | undefined;
  #startedAt = 0;
  /** Since when the response runs, or the call waits in the queue. */
  #answeredAt = 0;
  #queuedAt = 0;
  #call: EngineCall | undefined;
  /** Present where calls are traced. */
  #span: CallSpan | undefined;
  #answered = false;
  /** While it is queued. */
  #deadline: NodeJS.Timeout | undefined;
  /** Before a retry. */
  #backoff: NodeJS.Timeout | undefined;

  constructor(pool: ReplicaPool, request: EngineRequest, flow: Flow, reader: EngineReader) {
    this.#pool = pool;
    this.#request = request;
    this.#flow = flow;
    this.#reader = reader;
  }

  get tried(): readonly Replica[] {
    return this.#tried;
  }

  get model(): string | undefined {
    return this.#request.model;
  }

  get prompt(): PromptCall | undefined {
    return this.#request.prompt;
  }

  get session(): string | undefined {
    return this.#flow.session;
  }

  get subscription(): string {
    return this.#flow.subscription;
  }

  wait(): void {
    this.#queuedAt = performance.now();
    this.#deadline = setTimeout(() => {
      this.#pool.dequeue(this);
      this.rejected();
    }, this.#pool.waitMs);
  }

  rejected(): void {
    clearTimeout(this.#deadline);
    this.#reader.error(this.#pool.refusal());
  }

  /** False when no replica can take it. */
  start(): boolean {
    const now = performance.now();
    const replica = this.#pool.pick(this, now);
    if (replica === undefined) return false;
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#startedAt = now;
    if (this.#attempts === 0) this.#pool.budget.called(now);
    this.#noteStart(replica, now);
    this.#span = this.#flow.trace?.startCall({
      method: this.#request.method,
      path: this.#request.path,
      replica: replica.url,
      retries: this.#attempts,
    });
    this.#attempts++;
    replica.busy++;
    replica.share.prefill += this.uncached;
    this.#replica = replica;
    this.#latest = replica;
    this.#call = replica.dispatch.send(this.#request, this.#flow, this, this.#span?.lines, this.#metStale);
    return true;
  }

  #noteStart({ alias }: Replica, now: number): void {
    const { served } = this.#flow;
    if (served === undefined) return;
    if (served.calledAt === 0) served.calledAt = now;
    served.attempts++;
    served.replica = alias;
    if (this.#queuedAt === 0) return;
    served.queuedMs += now - this.#queuedAt;
    this.#queuedAt = 0;
  }

  head(head: EngineHead): void {
    this.#answered = true;
    this.#noteAnswer();
    this.#span?.answered();
    if (this.#replica !== undefined) this.#replica.answering++;
    // A response head closes the circuit of an ejected replica; any other call must also end well to count.
    if (this.#replica?.ejected === true) this.#pool.succeeded(this.#replica);
    this.#reader.head(head);
  }

  #noteAnswer(): void {
    const { served } = this.#flow;
    if (served === undefined) return;
    this.#answeredAt = performance.now();
    if (served.answeredAt === 0) served.answeredAt = this.#answeredAt;
    served.engineMs = this.#answeredAt - this.#startedAt;
    served.busyMs += served.engineMs;
  }

  bytes(bytes: Buffer, last: boolean): void {
    if (this.uncached > 0) this.#prefilled(this.#replica);
    this.#reader.bytes(bytes, last);
  }

  end(): void {
    this.#releaseAnswered();
    this.#reader.end();
    this.#pool.startWaiters();
  }

  error(error: EngineError): void {
    const replica = this.#release(error);
    if (replica !== undefined) this.#pool.failed(replica, error);
    if (this.#mayRetry(error, replica)) this.#retry(error);
    else this.#reader.error(error);
    this.#pool.startWaiters();
  }

  #retry(error: EngineError): void {
    const pause = error.unsent ? 0 : this.#pool.retries.backoff(this.#attempts);
    if (pause > 0) this.#backoff = setTimeout(() => this.#retryNow(error), pause);
    else this.#retryNow(error);
  }

  #retryNow(error: EngineError): void {
    this.#backoff = undefined;
    if (!this.start() && !this.#waitsAfter(error)) this.#reader.error(error);
  }

  /** A reader that closes the call early is no failure of the replica. */
  close(): void {
    clearTimeout(this.#backoff);
    if (this.#deadline !== undefined) {
      clearTimeout(this.#deadline);
      this.#pool.dequeue(this);
    }
    this.#releaseAnswered();
    this.#call?.close();
    this.#pool.startWaiters();
  }

  /** The one it was sent to last. */
  get replicaUrl(): string | undefined {
    return this.#latest?.url;
  }

  /** Another replica may be asked for what is missing of its response. */
  get mayContinue(): boolean {
    const { replicas, retries } = this.#pool;
    return this.#attempts < retries.attempts && replicas.some((each) => each !== this.#latest);
  }

  /** False: the budget of retries is used up. */
  takeRetry(): boolean {
    return this.#pool.budget.allows(performance.now());
  }

  /** A call for what is missing of this one's response. The reader gets `error` where no replica takes it. */
  continueBy(request: EngineRequest, reader: EngineReader, error: EngineError): PooledCall {
    const { retries } = this.#pool;
    const call = new PooledCall(this.#pool, request, this.#flow, reader);
    call.#attempts = this.#attempts;
    // Those that broke it off before may be back: replicas are restarted one after the other.
    call.#tried = this.#latest === undefined ? none : [this.#latest];
    // Never inside the caller, as the reader of any call.
    const pause = retries.backoff(this.#attempts);
    call.#backoff = setTimeout(() => call.#continueNow(error), pause);
    return call;
  }

  #continueNow(error: EngineError): void {
    this.#backoff = undefined;
    if (!this.start() && !this.#pool.requeue(this)) this.#reader.error(error);
  }

  /** `retry` is `never` once any of a response was seen. */
  #mayRetry(error: EngineError, replica: Replica | undefined): boolean {
    if (error.retry === 'never' || this.#attempts >= this.#pool.retries.attempts) return false;
    // A stale connection says nothing about its replica, which may be picked again.
    this.#metStale = error.retry === 'anywhere';
    if (error.retry === 'elsewhere' && replica !== undefined) this.#tried = [...this.#tried, replica];
    if (this.#pool.replicas.every((each) => this.#tried.includes(each))) return false;
    // What no engine has seen adds no work to the pool.
    return error.unsent || this.#pool.budget.allows(performance.now());
  }

  /** A replica that cannot be reached is not the client's concern; what one responds is passed on at once. */
  #waitsAfter({ fault }: EngineError): boolean {
    return fault === 'connection' && this.#pool.requeue(this);
  }

  #releaseAnswered(): void {
    const replica = this.#release();
    if (replica !== undefined && this.#answered) this.#pool.succeeded(replica);
  }

  /** Its prompt is computed, or nobody waits for it any more. */
  #prefilled(replica: Replica | undefined): void {
    if (replica !== undefined) replica.share.prefill -= this.uncached;
    this.uncached = 0;
  }

  #release(error?: EngineError): Replica | undefined {
    this.#span?.end(error);
    this.#span = undefined;
    const replica = this.#replica;
    this.#replica = undefined;
    if (replica === undefined) return undefined;
    replica.busy--;
    this.#prefilled(replica);
    if (this.#answered) replica.answering--;
    const now = performance.now();
    const { served } = this.#flow;
    if (served !== undefined) served.busyMs += now - (this.#answered ? this.#answeredAt : this.#startedAt);
    this.#pool.released(now - this.#startedAt, now);
    return replica;
  }
}
