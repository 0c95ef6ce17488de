/** Encodes samples in the format and speed requested. */
import { map, type OperatorFunction, pipe, reduce, switchMap } from 'rxjs';
import type { SpeechFormat } from '../../schemas/speech.ts';
import { fail } from '../../src/errors.ts';
import { JoinedBytes } from '../../src/helpers/joined-bytes.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Codec, Conversion } from '../../src/ports/codec.ts';
import { type Spoken, speechRate } from '../../src/ports/engines/speech.ts';
import type { Caller } from '../../src/ports/exchange.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fromOperator, type Transform } from '../core/stage.ts';
import type { SpeechTask } from './read-speech-request.ts';

interface Speaking {
  readonly task: SpeechTask;
  readonly caller: Caller;
}

export const encodeSpeech = (codec: Shared<Codec>): Transform<Spoken, Buffer, Speaking> =>
  fromOperator(({ task, caller }) =>
    task.streams ? map(({ samples }) => samples) : encode(codec.for(caller.subscription), task),
  );

const samplesOf = ['-f', 's16le', '-ar', String(speechRate), '-ac', '1'];

interface Encoder {
  readonly arguments: readonly string[];
  /** Its header holds what is known only at the end. */
  readonly seeks: boolean;
}

const encoders: Readonly<Record<SpeechFormat, Encoder>> = {
  mp3: { arguments: ['-c:a', 'libmp3lame', '-b:a', '96k', '-f', 'mp3'], seeks: true },
  opus: { arguments: ['-c:a', 'libopus', '-b:a', '48k', '-f', 'ogg'], seeks: false },
  flac: { arguments: ['-c:a', 'flac', '-f', 'flac'], seeks: true },
  wav: { arguments: ['-c:a', 'pcm_s16le', '-f', 'wav'], seeks: true },
  pcm: { arguments: ['-c:a', 'pcm_s16le', '-f', 's16le'], seeks: false },
};

const maxBytes = 256 * 1024 * 1024;
const timeoutMs = 5 * 60_000;
/** Of samples: three quarters of an hour. */
const longestSpeech = 128 * 1024 * 1024;

/** The process is started once all samples are there: none idles while the engine is at work. */
const encode = (codec: Codec, task: SpeechTask): OperatorFunction<Spoken, Buffer> =>
  pipe(
    reduce(gather, { samples: new JoinedBytes(), comment: undefined } as Gathered),
    switchMap(({ samples, comment }) =>
      codec.convert(samples.take(), conversionOf(task, comment), new Backpressure()),
    ),
  );

const conversionOf = ({ format, speed }: SpeechTask, comment: string | undefined): Conversion => {
  const encoder = encoders[format];
  return {
    inputArguments: samplesOf,
    arguments: [...tempo(speed), ...encoder.arguments],
    seekableOutput: encoder.seeks,
    maxBytes,
    timeoutMs,
    ...(comment === undefined ? {} : { comment }),
  };
};

interface Gathered {
  readonly samples: JoinedBytes;
  comment: string | undefined;
}

const gather = (gathered: Gathered, { samples, comment }: Spoken): Gathered => {
  gathered.samples.add(samples, true);
  gathered.comment ??= comment;
  if (gathered.samples.length > longestSpeech) throw fail('engine_unreachable', 'The model did not stop');
  return gathered;
};

/** One filter halves or doubles at most; the pitch stays. */
const tempo = (speed: number): readonly string[] => {
  if (speed === 1) return [];
  const steps: number[] = [];
  let left = speed;
  for (; left > 2; left /= 2) steps.push(2);
  for (; left < 0.5; left /= 0.5) steps.push(0.5);
  return ['-filter:a', [...steps, left].map((step) => `atempo=${step}`).join(',')];
};
