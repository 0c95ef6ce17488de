/** Counts the seconds of audio that a request is billed for. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { type Spoken, sampleBytes, speechRate } from '../../src/ports/speech.ts';
import type { Transcribed } from '../../src/ports/transcription.ts';
import { type Account, type Billed, type Outcome, usageEvent } from '../core/account.ts';
import type { SpeechTask } from './read-speech-request.ts';
import type { TranscriptionTask } from './read-transcription.ts';

export const speechAccount = (billed: Billed<SpeechTask>): SpeechAccount => new SpeechAccount(billed);

/** Samples that the engine made are billed; the first encoded bytes count as the first token. */
export class SpeechAccount implements Account<Spoken | Buffer> {
  readonly #billed: Billed<SpeechTask>;
  readonly #started = performance.now();
  #firstToken: number | undefined;
  #bytes = 0;

  constructor(billed: Billed<SpeechTask>) {
    this.#billed = billed;
  }

  add(part: Spoken | Buffer): void {
    if ('samples' in part) this.#bytes += part.samples.length;
    else this.#firstToken ??= performance.now();
  }

  /** Rounded up: what is billed. */
  get seconds(): number {
    return Math.ceil(this.#bytes / (speechRate * sampleBytes));
  }

  event(outcome: Outcome, status: number): UsageEvent {
    return usageEvent('/audio/speech', this.#billed, outcome, status, {
      seconds: this.seconds,
      started: this.#started,
      firstToken: this.#firstToken,
    });
  }
}

/** The length of the recording is billed, unless the client left before there was any text. */
export const transcriptionAccount = (billed: Billed<TranscriptionTask>): Account<Transcribed> => {
  const started = performance.now();
  let firstToken: number | undefined;
  return {
    add: () => {
      firstToken ??= performance.now();
    },
    event: (outcome, status) => {
      const seconds = firstToken !== undefined || outcome === 'completed' ? billed.task.seconds : 0;
      return usageEvent('/audio/transcriptions', billed, outcome, status, { seconds, started, firstToken });
    },
  };
};
