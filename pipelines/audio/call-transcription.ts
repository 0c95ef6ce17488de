/** A task in; its transcript as the engine gives it, piece by piece, out. 502 503 504. */
import { defer, type Observable } from 'rxjs';
import { fail } from '../../src/errors.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Transcribed } from '../../src/ports/transcription.ts';
import type { TranscriptionTask } from './read-transcription-request.ts';

export const callTranscription = (
  { engines, usage }: Pick<Ports, 'engines' | 'usage'>,
  { id: requestId, backpressure, trace }: Exchange,
  { subscription }: Caller,
  { model, call }: TranscriptionTask,
): Observable<Transcribed> =>
  defer(() => {
    usage.ensureOpen();
    const engine = engines.of(model);
    if (engine.transcribe === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine does not transcribe`);
    return engine.transcribe(model, call, { requestId, subscription, backpressure, trace });
  });
