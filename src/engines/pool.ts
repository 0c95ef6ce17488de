/** The replicas of one engine: a request in, the answer of the least busy replica out; another one's if that fails at the door. */
import type { Logger } from 'pino';
import { type ApiError, fail } from '../errors.ts';
import { Demand } from '../ports/demand.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineRequest } from './dispatch.ts';
import { EngineError } from './engine-error.ts';
import type { EngineCall, EngineHead, EngineReader } from './http-call.ts';
import type { Replica } from './replica.ts';

const ATTEMPT_LIMIT = 3;

export interface PoolOptions {
  readonly replicas: readonly Replica[];
  /** Calls at once on one replica. */
  readonly concurrency: number;
  readonly log: Logger;
}

export class ReplicaPool {
  readonly #replicas: readonly Replica[];
  readonly #concurrency: number;
  readonly #log: Logger;
  /** Where the search for the least busy begins: ties go round. */
  #next = 0;

  constructor({ replicas, concurrency, log }: PoolOptions) {
    this.#replicas = replicas;
    this.#concurrency = concurrency;
    this.#log = log;
  }

  /** Throws `unavailable` when every replica is full or out. The reader hears nothing before this has returned. */
  send(request: EngineRequest, flow: Flow, reader: EngineReader): EngineCall {
    const call = new PooledCall(this, request, flow, reader);
    if (!call.start()) throw fail('unavailable', 'The model is unavailable or busy, try again');
    return call;
  }

  health(): 'ok' | 'down' {
    return this.#replicas.some((replica) => !replica.out) ? 'ok' : 'down';
  }

  /** Asks every replica once; what they say counts like the outcome of a call. */
  probe(request: EngineRequest): readonly EngineCall[] {
    const flow = { requestId: 'probe', subscription: '', demand: new Demand() };
    return this.#replicas.map((replica) =>
      replica.dispatch.send(request, flow, {
        head: () => undefined,
        bytes: () => undefined,
        end: () => this.succeeded(replica),
        error: (error) => this.failed(replica, error),
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.dispatch.close()));
  }

  /** The least busy of those that can take a call and were not tried yet. */
  pick(tried: readonly Replica[]): Replica | undefined {
    const now = performance.now();
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
    if (replica.succeeded()) this.#log.info({ replica: replica.url }, 'engine replica is back');
  }

  failed(replica: Replica, error: ApiError): void {
    if (!(error instanceof EngineError)) return;
    if (error.misconfigured)
      this.#log.error({ replica: replica.url, err: error.cause }, 'engine refuses the gateway');
    if (error.fault === 'none') return;
    if (replica.failed(error.fault, performance.now())) {
      this.#log.warn({ replica: replica.url, err: error.cause }, 'engine replica is left alone for a while');
    }
  }
}

/** One call on its way through the replicas; most see one only. */
class PooledCall implements EngineReader, EngineCall {
  readonly #pool: ReplicaPool;
  readonly #request: EngineRequest;
  readonly #flow: Flow;
  readonly #reader: EngineReader;
  #attempts = 0;
  readonly #tried: Replica[] = [];
  /** Where it runs now. */
  #replica: Replica | undefined;
  #call: EngineCall | undefined;
  #answered = false;

  constructor(pool: ReplicaPool, request: EngineRequest, flow: Flow, reader: EngineReader) {
    this.#pool = pool;
    this.#request = request;
    this.#flow = flow;
    this.#reader = reader;
  }

  start(): boolean {
    const replica = this.#pool.pick(this.#tried);
    if (replica === undefined) return false;
    this.#attempts++;
    replica.busy++;
    this.#replica = replica;
    this.#call = replica.dispatch.send(this.#request, this.#flow, this);
    return true;
  }

  head(head: EngineHead): void {
    this.#answered = true;
    // A replica that was out is back with its first word; one that was not must also end well.
    if (this.#replica?.out === true) this.#pool.succeeded(this.#replica);
    this.#reader.head(head);
  }

  bytes(bytes: Buffer): void {
    this.#reader.bytes(bytes);
  }

  end(): void {
    this.#leaveWell();
    this.#reader.end();
  }

  error(error: EngineError): void {
    const replica = this.#leave();
    if (replica !== undefined) this.#pool.failed(replica, error);
    if (!this.#mayGoOn(error, replica) || !this.start()) this.#reader.error(error);
  }

  /** A reader that goes once it has what it wanted is no failure of the replica's. */
  close(): void {
    this.#leaveWell();
    this.#call?.close();
  }

  /** Nothing of an answer may have been seen: `retry` says so. */
  #mayGoOn(error: EngineError, replica: Replica | undefined): boolean {
    if (error.retry === 'never' || this.#attempts >= ATTEMPT_LIMIT) return false;
    // A stale connection says nothing of its replica, which may be picked again.
    if (error.retry === 'elsewhere' && replica !== undefined) this.#tried.push(replica);
    return true;
  }

  #leaveWell(): void {
    const replica = this.#leave();
    if (replica !== undefined && this.#answered) this.#pool.succeeded(replica);
  }

  #leave(): Replica | undefined {
    const replica = this.#replica;
    this.#replica = undefined;
    if (replica !== undefined) replica.busy--;
    return replica;
  }
}
