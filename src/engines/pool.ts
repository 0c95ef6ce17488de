/** The replicas of one engine: a request in, the bytes of the least busy replica's answer out; another one's if that fails at the door. */
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { type ApiError, fail } from '../errors.ts';
import { Demand } from '../ports/demand.ts';
import type { Flow } from '../ports/engine.ts';
import type { EngineRequest } from './dispatch.ts';
import { EngineError } from './engine-error.ts';
import type { EngineBytes } from './http-call.ts';
import type { Replica } from './replica.ts';

const ATTEMPT_LIMIT = 3;
const none: Attempts = { count: 0, tried: [], last: undefined };

export interface PoolOptions {
  readonly replicas: readonly Replica[];
  /** Calls at once on one replica. */
  readonly concurrency: number;
  readonly log: Logger;
}

/** What a call has been through so far. */
interface Attempts {
  readonly count: number;
  readonly tried: readonly Replica[];
  readonly last: ApiError | undefined;
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

  send(request: EngineRequest, flow: Flow): Observable<EngineBytes> {
    return new Observable((subscriber) => this.#attempt(request, flow, subscriber, none));
  }

  health(): 'ok' | 'down' {
    return this.#replicas.some((replica) => !replica.out) ? 'ok' : 'down';
  }

  /** Asks every replica once, all at the same time; what they say counts like the outcome of a call. */
  probe(request: EngineRequest): Observable<never> {
    return new Observable((subscriber) => {
      const flow = { requestId: 'probe', demand: new Demand() };
      for (const replica of this.#replicas) {
        subscriber.add(
          replica.dispatch.send(request, flow).subscribe({
            error: (error: unknown) => this.#failed(replica, error),
            complete: () => this.#succeeded(replica),
          }),
        );
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.dispatch.close()));
  }

  #attempt(request: EngineRequest, flow: Flow, subscriber: Subscriber<EngineBytes>, past: Attempts): void {
    const replica = this.#pick(past.tried);
    if (replica === undefined) {
      subscriber.error(past.last ?? fail('unavailable', 'The model is unavailable or busy, try again'));
      return;
    }
    replica.busy++;
    let running = true;
    let answered = false;
    const leave = (): void => {
      if (running) replica.busy--;
      running = false;
    };
    subscriber.add(() => {
      // A reader that goes once it has what it wanted is no failure of the replica's.
      if (running && answered) this.#succeeded(replica);
      leave();
    });
    subscriber.add(
      replica.dispatch.send(request, flow).subscribe({
        next: (bytes) => {
          // A replica that was out is back with its first word; one that was not must also end well.
          if (!answered && replica.out) this.#succeeded(replica);
          answered = true;
          subscriber.next(bytes);
        },
        error: (error: unknown) => {
          leave();
          this.#failed(replica, error);
          const next = afterFailure(error, replica, past);
          if (next === undefined || subscriber.closed) subscriber.error(error);
          else this.#attempt(request, flow, subscriber, next);
        },
        complete: () => subscriber.complete(),
      }),
    );
  }

  /** The least busy of those that can take a call and were not tried yet. */
  #pick(tried: readonly Replica[]): Replica | undefined {
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

  #succeeded(replica: Replica): void {
    if (replica.succeeded()) this.#log.info({ replica: replica.url }, 'engine replica is back');
  }

  #failed(replica: Replica, error: unknown): void {
    if (!(error instanceof EngineError)) return;
    if (error.misconfigured)
      this.#log.error({ replica: replica.url, err: error.cause }, 'engine refuses the gateway');
    if (error.fault === 'none') return;
    if (replica.failed(error.fault, performance.now())) {
      this.#log.warn({ replica: replica.url, err: error.cause }, 'engine replica is left alone for a while');
    }
  }
}

/** Undefined: the call is not to be tried again. Nothing of an answer may have been seen: `retry` says so. */
const afterFailure = (error: unknown, replica: Replica, past: Attempts): Attempts | undefined => {
  const count = past.count + 1;
  if (!(error instanceof EngineError) || error.retry === 'never' || count >= ATTEMPT_LIMIT) return undefined;
  const tried = error.retry === 'anywhere' ? past.tried : [...past.tried, replica];
  return { count, tried, last: error };
};
