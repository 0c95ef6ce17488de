/** Pieces of an answer in; the same out, their end held until the request's usage event is safe: one event, however it ends. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import type { UsageRecord } from './usage-event.ts';

export const holdUntilKept =
  <T>(record: UsageRecord): MonoTypeOperatorFunction<T> =>
  (source) =>
    new Observable((subscriber) => {
      const answer = source.subscribe({
        next: (piece) => subscriber.next(piece),
        complete: () =>
          record.completed().subscribe({
            error: (error) => subscriber.error(error),
            complete: () => subscriber.complete(),
          }),
        error: (error) => {
          const failed = (): void => subscriber.error(error);
          record.failed(error).subscribe({ error: failed, complete: failed });
        },
      });
      return () => {
        answer.unsubscribe();
        record.left();
      };
    });
