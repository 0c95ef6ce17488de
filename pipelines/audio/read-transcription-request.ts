/** A request beside its model in; what the engine is to be asked out, its recording probed. 400 names the field. */
import { map, type Observable, type OperatorFunction, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { maxRecordingSeconds } from '../../schemas/transcription.ts';
import { fail } from '../../src/errors.ts';
import type { Codec } from '../../src/ports/codec.ts';
import type { TranscriptionCall } from '../../src/ports/transcription.ts';
import type { Asked } from '../core/resolve-model.ts';
import { probeAudio } from './probe-audio.ts';
import { readLanguageCode } from './read-language.ts';
import type { TranscriptionBody } from './read-transcription-body.ts';

export interface TranscriptionTask {
  readonly model: Model;
  readonly call: TranscriptionCall;
  readonly format: 'json' | 'text';
  /** Of audio, rounded up: what is billed. */
  readonly seconds: number;
}

export const readTranscriptionRequest = (
  codec: Codec,
): OperatorFunction<Asked<TranscriptionBody>, TranscriptionTask> =>
  switchMap((asked) => readTask(codec, asked));

const readTask = (codec: Codec, { model, body }: Asked<TranscriptionBody>): Observable<TranscriptionTask> => {
  if (body.timestamp_granularities !== undefined)
    throw fail('invalid_request', 'timestamp_granularities is not supported: transcripts have no timestamps');
  const language = body.language === undefined ? undefined : readLanguageCode(body.language, 'language');
  const rule = { field: body.field, maxSeconds: maxRecordingSeconds };
  return probeAudio(codec, body.recording, rule).pipe(
    map((audio) => ({
      model,
      call: {
        audio,
        language,
        prompt: body.prompt,
        temperature: body.temperature,
        stream: body.stream ?? false,
      },
      format: body.response_format ?? 'json',
      seconds: Math.ceil(audio.seconds),
    })),
  );
};
