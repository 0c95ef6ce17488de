/** Computes results in runs of a few milliseconds, so that no tick takes long. */
import { Observable } from 'rxjs';

interface MadeRun<Result> {
  /** Number of the first one. */
  readonly first: number;
  readonly results: readonly Result[];
}

const tickMilliseconds = 2;

export const inTicks = <Result>(
  count: number,
  make: (index: number) => Result,
): Observable<MadeRun<Result>> =>
  new Observable((subscriber) => {
    let next = 0;
    let tick: NodeJS.Immediate | undefined;
    const run = (): void => {
      const until = performance.now() + tickMilliseconds;
      const first = next;
      const results: Result[] = [];
      try {
        do results.push(make(next++));
        while (next < count && performance.now() < until);
      } catch (thrown) {
        subscriber.error(thrown);
        return;
      }
      subscriber.next({ first, results });
      if (next >= count) subscriber.complete();
      else if (!subscriber.closed) tick = setImmediate(run);
    };
    run();
    return () => clearImmediate(tick);
  });
