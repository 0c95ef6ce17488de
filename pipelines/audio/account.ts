/** Counts the seconds of audio that a request is billed for. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { secondsCost } from '../../src/billing/cost.ts';
import { fail } from '../../src/errors.ts';
import { type Spoken, sampleBytes, speechRate } from '../../src/ports/engines/speech.ts';
import type { Transcribed } from '../../src/ports/engines/transcription.ts';
import type { MostUsed } from '../../src/ports/quotas.ts';
import { type Account, type Billed, type Outcome, usageEvent } from '../core/account.ts';
import { mostCost, mostOfAny } from '../core/most-used.ts';
import type { SpeechTask } from './read-speech-request.ts';
import type { TranscriptionTask } from './read-transcription.ts';

export const speechAccount = (billed: Billed<SpeechTask>): SpeechAccount => new SpeechAccount(billed);

/** A second for each character is slower than anybody speaks; a short text may be spoken slower still. */
const mostSeconds = (input: string): number => input.length + 30;

/** Samples that the engine made are billed; the first encoded bytes count as the first token. */
export class SpeechAccount implements Account<Spoken | Buffer> {
  readonly #billed: Billed<SpeechTask>;
  readonly #started = performance.now();
  #firstToken: number | undefined;
  #bytes = 0;
  #mostSeconds = Number.POSITIVE_INFINITY;

  constructor(billed: Billed<SpeechTask>) {
    this.#billed = billed;
  }

  add(part: Spoken | Buffer): void {
    if ('samples' in part) {
      this.#bytes += part.samples.length;
      if (this.seconds > this.#mostSeconds) throw fail('engine_unreachable', 'The model did not stop');
    } else this.#firstToken ??= performance.now();
  }

  /** Where it is reserved, an engine that speaks longer is stopped. */
  most(): MostUsed {
    const { task } = this.#billed;
    this.#mostSeconds = mostSeconds(task.call.input);
    return mostOfAny(task, ({ pricing }) => mostCost(secondsCost(this.#mostSeconds, pricing)));
  }

  /** Rounded up: what is billed. */
  get seconds(): number {
    return Math.ceil(this.#bytes / (speechRate * sampleBytes));
  }

  get firstTokenAt(): number | undefined {
    return this.#firstToken;
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
    most: () => mostOfAny(billed.task, ({ pricing }) => mostCost(secondsCost(billed.task.seconds, pricing))),
    add: () => {
      firstToken ??= performance.now();
    },
    get firstTokenAt() {
      return firstToken;
    },
    event: (outcome, status) => {
      const seconds = firstToken !== undefined || outcome === 'completed' ? billed.task.seconds : 0;
      return usageEvent('/audio/transcriptions', billed, outcome, status, { seconds, started, firstToken });
    },
  };
};
