/** Emits the progress of a simulated render, and its failure if one was requested. */
import { Observable } from 'rxjs';
import { RenderError } from '../../ports/engines/render.ts';
import type { Directives } from '../directives.ts';
import type { Task, Ticker } from '../ticker.ts';

/** Milliseconds between two reports. */
const beat = 100;

export const renderClock = (
  milliseconds: number,
  directives: Directives,
  ticker: Ticker,
): Observable<number> =>
  new Observable((subscriber) => {
    const begun = ticker.now();
    const total = milliseconds + stalled(directives);
    const failure = failureOf(directives);
    const task: Task = {
      due: begun,
      run: (now) => {
        const done = total === 0 ? 1 : Math.min(1, (now - begun) / total);
        task.due = Math.min(now + beat, begun + total);
        if (failure !== undefined && done >= failure.at) return subscriber.error(failure.error);
        subscriber.next(done);
        if (done === 1) subscriber.complete();
      },
    };
    ticker.add(task);
    return () => ticker.remove(task);
  });

const stalled = ({ faults }: Directives): number =>
  faults.reduce((sum, fault) => sum + (fault.type === 'stall' ? fault.milliseconds : 0), 0);

/** Faults that count tokens have no place in a render: they are at its beginning. */
const failureOf = ({ renderFailure, faults }: Directives) => {
  if (renderFailure !== undefined)
    return {
      at: renderFailure.at,
      error: new RenderError(renderFailure.code, `Simulated failure ${renderFailure.code}`),
    };
  return faults.some(({ type }) => type !== 'stall')
    ? { at: 0, error: new RenderError('engine_unavailable', 'Simulated failure of the engine') }
    : undefined;
};
