/** Emits pieces of a response at the set pace, with backpressure and simulated faults. */
import { Observable } from 'rxjs';
import type { Backpressure } from '../ports/backpressure.ts';
import type { Directives } from './directives.ts';
import { failureOf } from './faults.ts';
import type { Task, Ticker } from './ticker.ts';

/** Where pieces come from. */
export interface Supply<T> {
  /** Undefined when there is none now; `more` is then called once, when that has changed. */
  take(more: () => void, failed: (error: unknown) => void): T | undefined;
  /** There will be none any more. */
  readonly done: boolean;
  /** Nobody wants any. */
  stop(): void;
}

/** Pieces of one tick. */
const batch = 32;

export const playPieces = <T>(
  open: () => Supply<T>,
  { faults, first = 0, rate = Number.POSITIVE_INFINITY }: Directives,
  ticker: Ticker,
  backpressure: Backpressure,
): Observable<T> =>
  new Observable((subscriber) => {
    const supply = open();
    const interval = 1000 / rate;
    const pending = [...faults];
    let made = 0;
    let waits = false;
    let paused = false;

    const wake = (): void => {
      if (!waits && !paused && !subscriber.closed) ticker.add(task);
    };
    const more = (): void => {
      waits = false;
      task.due = Math.max(task.due, ticker.now());
      wake();
    };
    /** False when the answer must stop here, for now or for good. */
    const passFault = (isEnd: boolean): boolean => {
      const fault = pending[0];
      if (fault === undefined || (fault.after > made && !isEnd)) return true;
      pending.shift();
      if (fault.type === 'stall') task.due = ticker.now() + fault.milliseconds;
      else subscriber.error(failureOf(fault));
      return false;
    };
    const step = (now: number): boolean => {
      if (!passFault(false)) return false;
      const piece = supply.take(more, (error) => subscriber.error(error));
      if (piece === undefined) {
        if (!supply.done) {
          waits = true;
          ticker.remove(task);
        } else if (passFault(true)) subscriber.complete();
        return false;
      }
      made += 1;
      task.due = interval === 0 ? now : task.due + interval;
      subscriber.next(piece);
      return true;
    };
    const task: Task = {
      due: ticker.now() + first,
      run: (now) => {
        for (let pieces = 0; pieces < batch && task.due <= now && !paused && !subscriber.closed; pieces++)
          if (!step(now)) return;
      },
    };
    const listener = {
      pause: () => {
        paused = true;
        ticker.remove(task);
      },
      resume: () => {
        paused = false;
        // The pace is of what is sent; what was not wanted is not made up for.
        task.due = Math.max(task.due, ticker.now());
        wake();
      },
    };
    ticker.add(task);
    backpressure.attach(listener);
    return () => {
      backpressure.detach(listener);
      ticker.remove(task);
      supply.stop();
    };
  });

/** Pieces that are all there. */
export const supplyOf = <T>(pieces: Iterable<T>): Supply<T> => {
  const left = pieces[Symbol.iterator]();
  let done = false;
  return {
    take: () => {
      const { value, done: over } = left.next();
      done = over === true;
      return over === true ? undefined : value;
    },
    get done() {
      return done;
    },
    stop: () => undefined,
  };
};
