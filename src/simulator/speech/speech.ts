/** Simulates speech models: audible speech, sentence by sentence. */
import { defer, type Observable } from 'rxjs';
import { Pool, type PoolOptions } from '../../offload/pool.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { type SpeechCall, type Spoken, sampleBytes, speechRate } from '../../ports/engines/speech.ts';
import { ownWork, type Turn } from '../../ports/shared.ts';
import { readDirectives } from '../directives.ts';
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
  workers: 1,
  maxQueued: 1000,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxWait: 60_000,
  idle: 30_000,
  heapMegabytes: 256,
};
const timeout = 30_000;

/** No thread runs before the first sentence, nor long after the last. */
export class Speaker {
  readonly #pool = new Pool(poolOptions);

  /** Rejects with the signal's reason when it is aborted. */
  async say(job: SpeechJob, { subscription, signal }: Turn): Promise<Buffer> {
    const task = {
      task: job,
      transfer: [],
      timeout,
      bytes: job.text.length,
      subscription,
    };
    const outcome = (await this.#pool.run(task, signal)) as SpeechOutcome;
    if ('error' in outcome) throw outcome.error;
    const { buffer, byteOffset, byteLength } = outcome.samples;
    return Buffer.from(buffer, byteOffset, byteLength);
  }
}

interface SpeechParts {
  readonly speaker: Speaker;
  readonly memory: SpeechMemory;
  readonly ticker: Ticker;
}

type SpeechFlow = Pick<Flow, 'backpressure'> & Partial<Pick<Flow, 'subscription'>>;

export const simulateSpeech = (
  call: SpeechCall,
  { backpressure, subscription = ownWork }: SpeechFlow,
  parts: SpeechParts,
): Observable<Spoken> =>
  defer(() => {
    const { directives, rest } = readDirectives(call.input, 'input');
    const text = directives.text ?? rest;
    return playPieces(
      () => spokenPieces(text, call, parts, subscription),
      directives,
      parts.ticker,
      backpressure,
    );
  });

/** Synthesizes at most one sentence ahead of the reader. */
const spokenPieces = (
  text: string,
  call: SpeechCall,
  { memory, speaker }: SpeechParts,
  subscription: string,
): Supply<Spoken> => {
  const sentences = speechSentences(text);
  const left = sentences.length === 0 ? ['.'] : [...sentences];
  const voice = voiceArguments(call.voice);
  const leaving = new AbortController();
  const fingerprint = new Fingerprint();
  const ready: Buffer[] = [];
  let comment: string | undefined = commentMark + text;
  let making = false;
  let done = false;
  let waiting: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;

  const makeNext = (): void => {
    const sentence = making ? undefined : left.shift();
    if (sentence === undefined) return;
    making = true;
    speaker
      .say({ text: sayable(sentence), voice, rate: speechRate }, { subscription, signal: leaving.signal })
      .then(
        (samples) => {
          for (let at = 0; at < samples.length; at += pieceBytes)
            ready.push(samples.subarray(at, at + pieceBytes));
        },
        (error: unknown) => {
          failure = { error };
        },
      )
      .then(made);
  };
  const made = (): void => {
    making = false;
    const more = waiting;
    waiting = undefined;
    more?.();
  };
  const spoken = (samples: Buffer): Spoken => {
    fingerprint.add(samples);
    const first = comment;
    comment = undefined;
    return first === undefined ? { samples } : { samples, comment: first };
  };

  return {
    take(more, failed) {
      const samples = ready.shift();
      if (ready.length === 0) makeNext();
      if (samples !== undefined) return spoken(samples);
      if (failure !== undefined) failed(failure.error);
      else if (making) waiting = more;
      else {
        done = true;
        memory.remember(text, fingerprint);
      }
      return undefined;
    },
    get done() {
      return done;
    },
    stop: () => leaving.abort(),
  };
};
