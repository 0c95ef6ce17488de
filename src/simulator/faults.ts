/** Applies the directives of a `/sim` line to a response: delays, failures and lost connections. */
import { type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { type ApiError, fail } from '../errors.ts';
import type { Directives, Fault } from './directives.ts';
import type { Task, Ticker } from './ticker.ts';

/** The cause of a simulated connection loss; the HTTP server really drops the connection. */
export class ConnectionLost extends Error {
  readonly how: 'reset' | 'end';

  constructor(how: 'reset' | 'end') {
    super(`Simulated ${how} of the connection`);
    this.name = 'ConnectionLost';
    this.how = how;
  }
}

export function failureOf(fault: Exclude<Fault, { type: 'stall' }>): ApiError {
  switch (fault.type) {
    case 'fail':
      return fail(fault.kind, `Simulated failure ${fault.status}`, {
        headers: fault.status === 429 ? { 'retry-after': '1' } : {},
      });
    case 'drop':
      return lost('The engine closed the connection', 'reset');
    case 'end':
      return lost('The engine ended its answer early', 'end');
  }
}

const lost = (message: string, how: 'reset' | 'end'): ApiError =>
  fail('engine_unreachable', message, { cause: new ConnectionLost(how) });

/** For responses without tokens to count: every fault is at the beginning, stalls before failures. */
export const withFaults = <T>(
  { faults, first = 0 }: Directives,
  ticker: Ticker,
): MonoTypeOperatorFunction<T> => {
  const wait = faults.reduce((sum, fault) => sum + (fault.type === 'stall' ? fault.milliseconds : 0), first);
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
