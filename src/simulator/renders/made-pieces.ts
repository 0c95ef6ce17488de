/** Makes pieces as fast as the reader takes them, a few milliseconds of work per tick. */
import { Observable } from 'rxjs';
import type { Backpressure } from '../../ports/backpressure.ts';

const tickMilliseconds = 3;

export const madePieces = (
  count: number,
  make: (index: number) => Uint8Array,
  backpressure: Backpressure,
): Observable<Uint8Array> =>
  new Observable((subscriber) => {
    let next = 0;
    let paused = false;
    let tick: NodeJS.Immediate | undefined;
    const later = (): void => {
      tick ??= setImmediate(run);
    };
    const run = (): void => {
      tick = undefined;
      const until = performance.now() + tickMilliseconds;
      while (!paused && next < count && performance.now() < until && !subscriber.closed)
        subscriber.next(make(next++));
      if (next >= count) subscriber.complete();
      else if (!paused && !subscriber.closed) later();
    };
    const source = {
      pause: () => {
        paused = true;
      },
      resume: () => {
        paused = false;
        later();
      },
    };
    backpressure.attach(source);
    later();
    return () => {
      backpressure.detach(source);
      clearImmediate(tick);
    };
  });
