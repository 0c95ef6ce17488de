/** A task in; its answer as the engine gives it, out. 502, 503 and 504 before the first part; 503 when usage could not be kept. */
import { type Observable, throwError } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Parts } from '../../src/ports/chat.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Answering } from './answering.ts';

export const callEngine =
  ({ engines, usage }: Pick<Ports, 'engines' | 'usage'>) =>
  ({ exchange, caller, task }: Answering<unknown>): Observable<Parts> => {
    try {
      usage.ensureOpen();
    } catch (error) {
      return failed(error);
    }
    const { model, call } = task;
    const { id: requestId, backpressure, trace } = exchange;
    const engine = engines.of(model);
    if (engine.chat === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine does not chat`);
    return engine.chat(model, call, {
      requestId,
      subscription: caller.subscription,
      backpressure,
      trace,
    });
  };

const failed = (error: unknown): Observable<never> => throwError(() => error);
