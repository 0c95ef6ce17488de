/** Simulates speech models: audible speech, sentence by sentence. */
import { defer, type Observable } from 'rxjs';
import { Pool, type PoolOptions } from '../../offload/pool.ts';
import type { Flow } from '../../ports/engine.ts';
import { type SpeechCall, type Spoken, sampleBytes, speechRate } from '../../ports/speech.ts';
import { splitDirectives } from '../faults.ts';
import { playPieces, type Supply } from '../play-pieces.ts';
import type { Ticker } from '../ticker.ts';
import { Fingerprint, type SpeechMemory } from './memory.ts';
import { sayable, speechSentences } from './sentences.ts';
import { voiceArguments } from './voice.ts';
import type { SpeechJob, SpeechOutcome } from './worker.ts';

/** A tenth of a second: what `/sim` counts as a token. */
const pieceBytes = (speechRate / 10) * sampleBytes;

/** What a file says of itself that was made of simulated speech; transcription finds the words again by it. */
export const commentMark = 'sluice-simulator: ';

const poolOptions: PoolOptions = {
  entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url),
  threads: 1,
  maxQueued: 1000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxWait: 60_000,
  idle: 30_000,
  heapMegabytes: 256,
};
const timeout = 30_000;
const maxGrowth = 512 * 1024 * 1024;

/** No thread runs before the first sentence, nor long after the last. */
export class Speaker {
  readonly #pool = new Pool(poolOptions);

  /** Rejects with the signal's reason when it is aborted. */
  async say(job: SpeechJob, signal: AbortSignal): Promise<Buffer> {
    const task = { task: job, transfer: [], timeout, maxGrowth, bytes: job.text.length, slow: false };
    const outcome = (await this.#pool.run(task, signal)) as SpeechOutcome;
    if ('error' in outcome) throw outcome.error;
    const { buffer, byteOffset, byteLength } = outcome.samples;
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}

export interface SpeechParts {
  readonly speaker: Speaker;
  readonly memory: SpeechMemory;
  readonly ticker: Ticker;
}

export const simulateSpeech = (
  call: SpeechCall,
  { backpressure }: Pick<Flow, 'backpressure'>,
  parts: SpeechParts,
): Observable<Spoken> =>
  defer(() => {
    const { directives, rest } = splitDirectives(call.input, 'input');
    const text = directives.text ?? rest;
    return playPieces(() => new Sentences(text, call, parts), directives, parts.ticker, backpressure);
  });

/** Synthesizes at most one sentence ahead of the reader. */
class Sentences implements Supply<Spoken> {
  readonly #text: string;
  readonly #left: string[];
  readonly #voice: readonly string[];
  readonly #parts: SpeechParts;
  readonly #leaving = new AbortController();
  readonly #fingerprint = new Fingerprint();
  #comment: string | undefined;
  #ready: Buffer[] = [];
  #making = false;
  #waiting: { more: () => void; failed: (error: unknown) => void } | undefined;
  #failure: { readonly error: unknown } | undefined;
  done = false;

  constructor(text: string, call: SpeechCall, parts: SpeechParts) {
    this.#text = text;
    this.#comment = commentMark + text;
    this.#left = [...speechSentences(text)];
    if (this.#left.length === 0) this.#left.push('.');
    this.#voice = voiceArguments(call.voice);
    this.#parts = parts;
  }

  take(more: () => void, failed: (error: unknown) => void): Spoken | undefined {
    const samples = this.#ready.shift();
    if (this.#ready.length === 0) this.#makeNext();
    if (samples !== undefined) return this.#spoken(samples);
    if (this.#failure !== undefined) failed(this.#failure.error);
    else if (this.#making) this.#waiting = { more, failed };
    else this.#end();
    return undefined;
  }

  stop(): void {
    this.#leaving.abort();
  }

  #spoken(samples: Buffer): Spoken {
    this.#fingerprint.add(samples);
    const comment = this.#comment;
    this.#comment = undefined;
    return comment === undefined ? { samples } : { samples, comment };
  }

  #end(): void {
    this.done = true;
    this.#parts.memory.remember(this.#text, this.#fingerprint);
  }

  #makeNext(): void {
    const sentence = this.#making ? undefined : this.#left.shift();
    if (sentence === undefined) return;
    this.#making = true;
    const job = { text: sayable(sentence), voice: this.#voice, rate: speechRate };
    this.#parts.speaker.say(job, this.#leaving.signal).then(
      (samples) => {
        for (let at = 0; at < samples.length; at += pieceBytes)
          this.#ready.push(samples.subarray(at, at + pieceBytes));
        this.#made();
      },
      (error: unknown) => {
        this.#failure = { error };
        this.#made();
      },
    );
  }

  #made(): void {
    this.#making = false;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.more();
  }
}
