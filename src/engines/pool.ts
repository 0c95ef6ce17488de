/**
 * The replicas of one engine: a request in, the answer of the least busy replica out; another one's if that fails at the
 * door. While all are full calls wait, and subscriptions take turns.
 */
import type { Logger } from 'pino';
import type { ApiError } from '../errors.ts';
import { Pace, retryAfter } from '../limits/pace.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Flow } from '../ports/engine.ts';
import type { CallSpan } from '../ports/trace.ts';
import { FairLine, type Waiting } from './capacity.ts';
import type { EngineRequest } from './dispatch.ts';
import { EngineError } from './engine-error.ts';
import type { EngineCall, EngineHead, EngineReader } from './http-call.ts';
import type { Replica } from './replica.ts';

const ATTEMPT_LIMIT = 3;
const LINE_LENGTH = 1000;
const LONGEST_WAIT_MS = 30_000;

export interface PoolFigures {
  /** Calls that wait for a replica. */
  readonly waiting: number;
  readonly replicas: readonly ReplicaFigures[];
}

export interface ReplicaFigures {
  readonly url: string;
  /** It failed, and has not answered since. */
  readonly out: boolean;
  /** Out, and not to be tried yet. */
  readonly resting: boolean;
  /** Calls running now. */
  readonly busy: number;
}

export interface PoolOptions {
  readonly replicas: readonly Replica[];
  /** Calls at once on one replica. */
  readonly concurrency: number;
  readonly log: Logger;
  /** Calls that may wait for a replica, and for how long. */
  readonly lineLength?: number;
  readonly waitMs?: number;
}

export class ReplicaPool {
  readonly #replicas: readonly Replica[];
  readonly #concurrency: number;
  readonly #log: Logger;
  /** Where the search for the least busy begins: ties go round. */
  #next = 0;
  readonly waitMs: number;
  readonly #line: FairLine<PooledCall>;
  readonly #pace = new Pace(performance.now());
  #serving = false;

  constructor({
    replicas,
    concurrency,
    log,
    lineLength = LINE_LENGTH,
    waitMs = LONGEST_WAIT_MS,
  }: PoolOptions) {
    this.#replicas = replicas;
    this.#concurrency = concurrency;
    this.#log = log;
    this.#line = new FairLine(lineLength);
    this.waitMs = waitMs;
  }

  /**
   * Throws `unavailable` when every replica is out, or so many calls wait already. The reader hears nothing before this
   * has returned.
   */
  send(request: EngineRequest, flow: Flow, reader: EngineReader): EngineCall {
    const call = new PooledCall(this, request, flow, reader);
    if (this.#line.size === 0 && call.start()) return call;
    if (this.health() === 'down' || !this.#line.join(call)) throw this.refusal();
    call.wait();
    return call;
  }

  leaveLine(call: PooledCall): void {
    this.#line.leave(call);
  }

  /** Gives what is free to those who wait. A call that ends within this loop is seen by it. */
  serve(): void {
    if (this.#serving || this.#line.size === 0) return;
    this.#serving = true;
    for (let call = this.#line.first(); call !== undefined; call = this.#line.first()) {
      if (call.start()) this.#line.serve(call);
      else if (this.health() === 'ok') break;
      else {
        this.#line.leave(call);
        call.refused();
      }
    }
    this.#serving = false;
  }

  released(heldMs: number, now: number): void {
    this.#pace.released(heldMs, now);
  }

  /** Full: with the time in which those who wait should have had their turn. Out: the pauses are short. */
  refusal(): EngineError {
    const slots = this.#concurrency * this.#replicas.filter((replica) => !replica.out).length;
    const wait = this.#pace.estimate(this.#line.size + 1, Math.max(1, slots), performance.now());
    return new EngineError(
      'unavailable',
      this.health() === 'ok' ? 'The model is busy, try again' : 'The model is unavailable, try again',
      { retry: 'never', fault: 'none' },
      { headers: retryAfter(wait) },
    );
  }

  health(): 'ok' | 'down' {
    return this.#replicas.some((replica) => !replica.out) ? 'ok' : 'down';
  }

  stats(): PoolFigures {
    return {
      waiting: this.#line.size,
      replicas: this.#replicas.map(({ url, out, resting, busy }) => ({ url, out, resting, busy })),
    };
  }

  /** Asks every replica once; what they say counts like the outcome of a call. */
  probe(request: EngineRequest): readonly EngineCall[] {
    const flow = { requestId: 'probe', subscription: '', backpressure: new Backpressure() };
    return this.#replicas.map((replica) =>
      replica.dispatch.send(request, flow, {
        head: () => undefined,
        bytes: () => undefined,
        end: () => this.succeeded(replica),
        error: (error) => this.failed(replica, error),
      }),
    );
  }

  /** The replica that an address leads to, and the path there; relative ones are the first's. */
  own(url: string): { readonly replica: Replica; readonly path: string } | undefined {
    const [first] = this.#replicas;
    if (first === undefined || !URL.canParse(url, first.url)) return undefined;
    const { origin, pathname, search } = new URL(url, first.url);
    const replica = this.#replicas.find((each) => new URL(each.url).origin === origin);
    return replica && { replica, path: pathname + search };
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.dispatch.close()));
  }

  /** The least busy of those that can take a call and were not tried yet. */
  pick(tried: readonly Replica[], now = performance.now()): Replica | undefined {
    const count = this.#replicas.length;
    let best: Replica | undefined;
    for (let step = 0; step < count; step++) {
      const replica = this.#replicas[(this.#next + step) % count];
      if (replica === undefined || tried.includes(replica)) continue;
      if (best !== undefined && replica.busy >= best.busy) continue;
      if (replica.canTake(now, this.#concurrency)) best = replica;
    }
    this.#next = (this.#next + 1) % count;
    return best;
  }

  succeeded(replica: Replica): void {
    if (!replica.succeeded()) return;
    this.#log.info({ replica: replica.url }, 'engine replica is back');
    this.serve();
  }

  failed(replica: Replica, error: ApiError): void {
    if (!(error instanceof EngineError)) return;
    if (error.misconfigured)
      this.#log.error({ replica: replica.url, err: error.cause }, 'engine refuses the gateway');
    if (error.fault === 'none') return;
    // The last one is not given up while it answers others.
    if (replica.answering > 0 && !this.#replicas.some((other) => other !== replica && !other.out)) return;
    if (replica.failed(error.fault, performance.now())) {
      this.#log.warn({ replica: replica.url, err: error.cause }, 'engine replica is left alone for a while');
    }
  }
}

const none: readonly Replica[] = [];

/** One call on its way through the replicas; most see one only. */
class PooledCall implements EngineReader, EngineCall, Waiting {
  readonly #pool: ReplicaPool;
  readonly #request: EngineRequest;
  readonly #flow: Flow;
  readonly #reader: EngineReader;
  #attempts = 0;
  #tried: readonly Replica[] = none;
  /** Where it runs now. */
  #replica: Replica | undefined;
  #startedAt = 0;
  #call: EngineCall | undefined;
  /** Where calls are recorded. */
  #span: CallSpan | undefined;
  #answered = false;
  /** While it waits for a replica. */
  #deadline: NodeJS.Timeout | undefined;

  constructor(pool: ReplicaPool, request: EngineRequest, flow: Flow, reader: EngineReader) {
    this.#pool = pool;
    this.#request = request;
    this.#flow = flow;
    this.#reader = reader;
  }

  get subscription(): string {
    return this.#flow.subscription;
  }

  wait(): void {
    this.#deadline = setTimeout(() => {
      this.#pool.leaveLine(this);
      this.refused();
    }, this.#pool.waitMs);
  }

  refused(): void {
    clearTimeout(this.#deadline);
    this.#reader.error(this.#pool.refusal());
  }

  start(): boolean {
    const now = performance.now();
    const replica = this.#pool.pick(this.#tried, now);
    if (replica === undefined) return false;
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
    this.#startedAt = now;
    this.#span = this.#flow.trace?.startCall({
      method: this.#request.method,
      path: this.#request.path,
      replica: replica.url,
      retries: this.#attempts,
    });
    this.#attempts++;
    replica.busy++;
    this.#replica = replica;
    this.#call = replica.dispatch.send(this.#request, this.#flow, this, this.#span?.lines);
    return true;
  }

  head(head: EngineHead): void {
    this.#answered = true;
    this.#span?.answered();
    if (this.#replica !== undefined) this.#replica.answering++;
    // A replica that was out is back with its first word; one that was not must also end well.
    if (this.#replica?.out === true) this.#pool.succeeded(this.#replica);
    this.#reader.head(head);
  }

  bytes(bytes: Buffer, last: boolean): void {
    this.#reader.bytes(bytes, last);
  }

  end(): void {
    this.#leaveWell();
    this.#reader.end();
    this.#pool.serve();
  }

  error(error: EngineError): void {
    const replica = this.#leave(error);
    if (replica !== undefined) this.#pool.failed(replica, error);
    if (!this.#mayGoOn(error, replica) || !this.start()) this.#reader.error(error);
    this.#pool.serve();
  }

  /** A reader that goes once it has what it wanted is no failure of the replica's. */
  close(): void {
    if (this.#deadline !== undefined) {
      clearTimeout(this.#deadline);
      this.#pool.leaveLine(this);
    }
    this.#leaveWell();
    this.#call?.close();
    this.#pool.serve();
  }

  /** Nothing of an answer may have been seen: `retry` says so. */
  #mayGoOn(error: EngineError, replica: Replica | undefined): boolean {
    if (error.retry === 'never' || this.#attempts >= ATTEMPT_LIMIT) return false;
    // A stale connection says nothing of its replica, which may be picked again.
    if (error.retry === 'elsewhere' && replica !== undefined) this.#tried = [...this.#tried, replica];
    return true;
  }

  #leaveWell(): void {
    const replica = this.#leave();
    if (replica !== undefined && this.#answered) this.#pool.succeeded(replica);
  }

  #leave(error?: EngineError): Replica | undefined {
    this.#span?.end(error);
    this.#span = undefined;
    const replica = this.#replica;
    this.#replica = undefined;
    if (replica === undefined) return undefined;
    replica.busy--;
    if (this.#answered) replica.answering--;
    const now = performance.now();
    this.#pool.released(now - this.#startedAt, now);
    return replica;
  }
}
