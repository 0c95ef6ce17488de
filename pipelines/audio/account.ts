/** Counts the seconds of sound that a request is billed for. */
import type { Model } from '../../schemas/catalog.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { type Spoken, sampleBytes, speechRate } from '../../src/ports/speech.ts';
import type { Transcribed } from '../../src/ports/transcription.ts';
import { type Account, type Billed, type Outcome, usageEvent } from '../core/account.ts';
import type { SpeechTask } from './read-speech-request.ts';
import type { TranscriptionTask } from './read-transcription.ts';

abstract class SecondsAccount<Task extends { readonly model: Model }> {
  protected readonly billed: Billed<Task>;
  readonly #route: string;
  readonly #started = performance.now();
  #first: number | undefined;

  constructor(route: string, billed: Billed<Task>) {
    this.#route = route;
    this.billed = billed;
  }

  /** A part of the response is ready for the client. */
  protected mark(): void {
    this.#first ??= performance.now();
  }

  protected abstract secondsOf(responded: boolean): number;

  event(outcome: Outcome, status: number): UsageEvent {
    return usageEvent(this.#route, this.billed, outcome, status, {
      seconds: this.secondsOf(this.#first !== undefined || outcome === 'completed'),
      started: this.#started,
      firstToken: this.#first,
    });
  }
}

/** Billed by the samples that the engine made; the first encoded bytes count as the first token. */
export class SpeechAccount extends SecondsAccount<SpeechTask> implements Account<Spoken | Buffer> {
  #bytes = 0;

  add(part: Spoken | Buffer): void {
    if ('samples' in part) this.#bytes += part.samples.length;
    else this.mark();
  }

  /** Rounded up: what is billed. */
  get seconds(): number {
    return Math.ceil(this.#bytes / (speechRate * sampleBytes));
  }

  protected secondsOf(): number {
    return this.seconds;
  }
}

/** Billed by the length of the recording, unless the client left before there was any text. */
export class TranscriptionAccount extends SecondsAccount<TranscriptionTask> implements Account<Transcribed> {
  add(): void {
    this.mark();
  }

  protected secondsOf(responded: boolean): number {
    return responded ? this.billed.task.seconds : 0;
  }
}
