/** The `/sim` line of a request that is answered in one piece in; the same answer out, late or failed as the line asks. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { type Directives, type Fault, readDirectives } from './directives.ts';
import { failureOf } from './faults.ts';
import type { Task, Ticker } from './ticker.ts';

export interface Wishes {
  readonly directives: Directives;
  /** The text after the line. */
  readonly rest: string;
}

const none: Directives = { faults: [] };

export const readWishes = (text: string, field: string): Wishes =>
  readDirectives(text, field) ?? { directives: none, rest: text };

/** There are no tokens to count: every fault is at the beginning, stalls before failures. */
export const wished = <T>({ directives }: Wishes, ticker: Ticker): MonoTypeOperatorFunction<T> => {
  const { faults } = directives;
  const wait = faults.reduce(
    (sum, fault) => sum + (fault.type === 'stall' ? fault.milliseconds : 0),
    directives.first ?? 0,
  );
  const failure = faults.find((fault): fault is Exclude<Fault, { type: 'stall' }> => fault.type !== 'stall');
  if (wait === 0 && failure === undefined) return (source) => source;
  return (source) =>
    new Observable((subscriber) => {
      const task: Task = {
        due: ticker.now() + wait,
        run: () => {
          ticker.remove(task);
          if (failure === undefined) subscriber.add(source.subscribe(subscriber));
          else subscriber.error(failureOf(failure));
        },
      };
      ticker.add(task);
      return () => ticker.remove(task);
    });
};
