/** Runs the batches of one request concurrently and emits their results as they arrive. */
import { Observable, Subscription } from 'rxjs';
import { asApiError } from '../../errors.ts';

interface BatchRules<Batch, Result> {
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
    /** In reverse: the next one is at the end. */
    const waiting = [...batches].reverse();
    const running = new Set<Subscription>();
    let { width } = rules;
    let refits = 0;
    let tick: NodeJS.Immediate | undefined;

    /** One per tick: encoding a large batch takes a while. */
    const startNext = (): void => {
      tick = undefined;
      if (running.size >= width) return;
      const batch = waiting.pop();
      if (batch !== undefined) start(batch);
      proceed();
    };
    const proceed = (): void => {
      if (waiting.length > 0) tick ??= setImmediate(startNext);
      else if (running.size === 0) subscriber.complete();
    };
    const start = (batch: Batch): void => {
      const subscription = new Subscription();
      running.add(subscription);
      const call = rules.send(batch).subscribe({
        next: (result) => subscriber.next(result),
        complete: () => {
          running.delete(subscription);
          proceed();
        },
        error: (error: unknown) => {
          running.delete(subscription);
          failed(batch, error);
          proceed();
        },
      });
      subscription.add(call);
    };
    /** An engine that is full while it serves this very request gets no more batches at once than it has now. */
    const failed = (batch: Batch, error: unknown): void => {
      const smaller = refits < mostRefits ? rules.refit?.(batch, error) : undefined;
      if (smaller !== undefined) {
        refits++;
        waiting.push(...[...smaller].reverse());
      } else if (running.size > 0 && asApiError(error).kind === 'unavailable') {
        width = running.size;
        waiting.push(batch);
      } else subscriber.error(error);
    };

    startNext();
    return () => {
      clearImmediate(tick);
      waiting.length = 0;
      for (const each of running) each.unsubscribe();
    };
  });
