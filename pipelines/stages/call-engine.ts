/** A task in; its answer as the engine gives it, out. 502, 503 and 504 before the first part; 503 when usage could not be kept. */
import { type Observable, throwError } from 'rxjs';
import type { Parts } from '../../src/ports/chat.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { ChatTask } from './chat-task.ts';

export const callEngine = (
  { engines, usage }: Pick<Ports, 'engines' | 'usage'>,
  { id: requestId, demand, trace }: Exchange,
  { subscription }: Caller,
  { model, call }: ChatTask<unknown>,
): Observable<Parts> => {
  try {
    usage.ensureOpen();
  } catch (error) {
    return throwError(() => error);
  }
  return engines.of(model).chat(model, call, { requestId, subscription, demand, trace });
};
