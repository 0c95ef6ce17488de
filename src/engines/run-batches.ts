/** Runs the batches of one request concurrently and emits their results as they arrive. */
import { Observable, type Subscriber, type Subscription } from 'rxjs';
import { asApiError } from '../errors.ts';

export interface BatchRules<Batch, Result> {
  /** Running at once, at most. */
  readonly width: number;
  send(batch: Batch): Observable<Result>;
  /** What to send instead of a batch that was refused for its size; undefined when the refusal is final. */
  refit?(batch: Batch, refusal: unknown): readonly Batch[] | undefined;
}

/** Rejected batches of one request that are split. */
const mostRefits = 256;

export const runBatches = <Batch, Result>(
  batches: readonly Batch[],
  rules: BatchRules<Batch, Result>,
): Observable<Result> =>
  new Observable((subscriber) => {
    const run = new Run(batches, rules, subscriber);
    run.startNext();
    return () => run.stop();
  });

class Run<Batch, Result> {
  readonly #rules: BatchRules<Batch, Result>;
  readonly #subscriber: Subscriber<Result>;
  /** In reverse: the next one is at the end. */
  readonly #waiting: Batch[];
  readonly #running = new Set<Subscription>();
  #width: number;
  #refits = 0;
  #tick: NodeJS.Immediate | undefined;

  constructor(batches: readonly Batch[], rules: BatchRules<Batch, Result>, subscriber: Subscriber<Result>) {
    this.#waiting = [...batches].reverse();
    this.#rules = rules;
    this.#width = rules.width;
    this.#subscriber = subscriber;
  }

  /** One per tick: encoding a large batch takes a while. */
  startNext(): void {
    this.#tick = undefined;
    if (this.#running.size >= this.#width) return;
    const batch = this.#waiting.pop();
    if (batch !== undefined) this.#start(batch);
    this.#continue();
  }

  stop(): void {
    clearImmediate(this.#tick);
    this.#waiting.length = 0;
    for (const running of this.#running) running.unsubscribe();
  }

  #later(): void {
    this.#tick ??= setImmediate(() => this.startNext());
  }

  #start(batch: Batch): void {
    let ended = false;
    let subscription: Subscription | undefined;
    const leave = (): void => {
      ended = true;
      if (subscription !== undefined) this.#running.delete(subscription);
    };
    subscription = this.#rules.send(batch).subscribe({
      next: (result) => this.#subscriber.next(result),
      complete: () => {
        leave();
        this.#continue();
      },
      error: (error) => {
        leave();
        this.#failed(batch, error);
        this.#continue();
      },
    });
    if (!ended) this.#running.add(subscription);
  }

  #continue(): void {
    if (this.#waiting.length > 0) this.#later();
    else if (this.#running.size === 0) this.#subscriber.complete();
  }

  /** An engine that is full while it serves this very request gets no more batches at once than it has now. */
  #failed(batch: Batch, error: unknown): void {
    const smaller = this.#refits < mostRefits ? this.#rules.refit?.(batch, error) : undefined;
    if (smaller !== undefined) {
      this.#refits++;
      this.#waiting.push(...[...smaller].reverse());
    } else if (this.#running.size > 0 && asApiError(error).kind === 'unavailable') {
      this.#width = this.#running.size;
      this.#waiting.push(batch);
    } else this.#subscriber.error(error);
  }
}
