/** Speech as it is made in; the same out, its length counted on the way. */
import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import { type Spoken, sampleBytes, speechRate } from '../../src/ports/speech.ts';

/** Of one request. */
export class SpeechCount {
  #bytes = 0;

  add({ samples }: Spoken): void {
    this.#bytes += samples.length;
  }

  /** Rounded up: what is billed. */
  get seconds(): number {
    return Math.ceil(this.#bytes / (speechRate * sampleBytes));
  }
}

export const countSpeech = (count: SpeechCount): MonoTypeOperatorFunction<Spoken> =>
  tap((spoken) => count.add(spoken));
