/** A task in; its speech as the engine makes it, piece by piece, out. 502 503 504. */
import { defer, type Observable } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Spoken } from '../../src/ports/speech.ts';
import type { SpeechTask } from './read-speech-request.ts';

export const callSpeech = (
  { engines, usage }: Pick<Ports, 'engines' | 'usage'>,
  { id: requestId, trace }: Exchange,
  { subscription }: Caller,
  { model, call, backpressure }: SpeechTask,
): Observable<Spoken> =>
  defer(() => {
    usage.ensureOpen();
    const engine = engines.of(model);
    if (engine.speak === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine does not speak`);
    return engine.speak(model, call, { requestId, subscription, backpressure, trace });
  });
