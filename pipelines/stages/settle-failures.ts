/** An engine's parts in; the same out, with every failure in its place: an error while nothing has come, a last `failure` part afterwards. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';

export const settleFailures = (): MonoTypeOperatorFunction<Parts> => (source) =>
  new Observable((subscriber) => {
    let last: Part['type'] | undefined;
    const failed = (thrown: unknown): void => {
      const error = asApiError(thrown);
      if (last === undefined) {
        subscriber.error(error);
      } else {
        subscriber.next([{ type: 'failure', error }]);
        subscriber.complete();
      }
    };
    return source.subscribe({
      next: (parts) => {
        const first = parts[0];
        if (last === undefined && first?.type === 'failure') return failed(first.error);
        last = parts[parts.length - 1]?.type ?? last;
        subscriber.next(parts);
      },
      error: failed,
      complete: () => {
        if (last !== undefined && closing.has(last)) return subscriber.complete();
        failed(fail('engine_unreachable', 'The model ended its answer early'));
      },
    });
  });

/** What a whole answer ends with. */
const closing: ReadonlySet<Part['type']> = new Set(['finish', 'usage', 'failure']);
