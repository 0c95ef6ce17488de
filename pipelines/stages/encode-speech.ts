/** Speech as samples in; the bytes of the format and speed asked for out. Samples that are wanted as they are pass by. */
import { map, Observable, type OperatorFunction, type Subscriber, type Subscription } from 'rxjs';
import type { SpeechFormat } from '../../schemas/speech.ts';
import type { Codec } from '../../src/ports/codec.ts';
import { Demand } from '../../src/ports/demand.ts';
import { type Spoken, speechRate } from '../../src/ports/speech.ts';
import type { SpeechTask } from './read-speech-request.ts';

export const encodeSpeech = (codec: Codec, task: SpeechTask): OperatorFunction<Spoken, Buffer> =>
  task.streams ? map(({ samples }) => samples) : (source) => encoded(codec, task, source);

const samplesOf = ['-f', 's16le', '-ar', String(speechRate), '-ac', '1'];

interface Encoder {
  readonly arguments: readonly string[];
  /** Its header tells what is known at the end only. */
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
const timeoutMs = 10 * 60_000;

/** The first piece says what the tags will, so that the process starts with it; what comes until it runs is kept. */
const encoded = (codec: Codec, task: SpeechTask, source: Observable<Spoken>): Observable<Buffer> =>
  new Observable((subscriber) => {
    const kept: Buffer[] = [];
    let input: Subscriber<Uint8Array> | undefined;
    let over = false;
    let encoding: Subscription | undefined;

    const samples = new Observable<Uint8Array>((opened) => {
      for (const piece of kept.splice(0)) opened.next(piece);
      if (over) opened.complete();
      input = opened;
      task.demand.resume();
    });
    const start = (comment: string | undefined): void => {
      const { arguments: format, seeks } = encoders[task.format];
      const conversion = {
        inputArguments: samplesOf,
        arguments: [...tempo(task.speed), ...format],
        inputDemand: task.demand,
        seekableOutput: seeks,
        maxBytes,
        timeoutMs,
        ...(comment === undefined ? {} : { comment }),
      };
      encoding = codec.convert(samples, conversion, new Demand()).subscribe(subscriber);
    };

    const engine = source.subscribe({
      next: (spoken) => {
        if (encoding === undefined) start(spoken.comment);
        if (input !== undefined) {
          input.next(spoken.samples);
          return;
        }
        kept.push(spoken.samples);
        task.demand.pause();
      },
      complete: () => {
        over = true;
        if (encoding === undefined) start(undefined);
        input?.complete();
      },
      error: (error: unknown) => subscriber.error(error),
    });
    return () => {
      engine.unsubscribe();
      encoding?.unsubscribe();
    };
  });

/** One filter halves or doubles at most; the pitch stays. */
const tempo = (speed: number): readonly string[] => {
  if (speed === 1) return [];
  const steps: number[] = [];
  let left = speed;
  for (; left > 2; left /= 2) steps.push(2);
  for (; left < 0.5; left /= 0.5) steps.push(0.5);
  return ['-filter:a', [...steps, left].map((step) => `atempo=${step}`).join(',')];
};
