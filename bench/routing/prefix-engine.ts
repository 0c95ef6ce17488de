/** A model server with a prefix cache: least recently used blocks are dropped, and what is not cached takes time. */
import type { Clock } from './clock.ts';

export interface EngineSettings {
  /** Bytes of text that count as a token, and tokens of a cache block. */
  readonly tokenBytes: number;
  readonly blockTokens: number;
  /** Tokens of the cache. */
  readonly cacheTokens: number;
  readonly prefillMsPerToken: number;
  readonly decodeMsPerToken: number;
  /** Requests that run at once; others wait. */
  readonly concurrency: number;
}

export const usualEngine: EngineSettings = {
  tokenBytes: 4,
  blockTokens: 16,
  cacheTokens: 160_000,
  prefillMsPerToken: 0.1,
  decodeMsPerToken: 4,
  concurrency: 64,
};

/** A text as the cache sees it: the hash of each whole block together with all before it, in 52 bits. */
export interface Hashed {
  readonly tokens: number;
  readonly blocks: readonly number[];
}

export const hashed = (text: string, { tokenBytes, blockTokens }: EngineSettings): Hashed => {
  const bytes = tokenBytes * blockTokens;
  const blocks: number[] = [];
  let one = 0x811c9dc5;
  let two = 0x1b873593;
  for (let end = bytes; end <= text.length; end += bytes) {
    for (let index = end - bytes; index < end; index++) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 0x01000193);
      two = Math.imul((two << 5) ^ (two >>> 27) ^ code, 0x85ebca6b);
    }
    blocks.push((one >>> 0) * 2 ** 20 + (two >>> 12));
  }
  return { tokens: Math.ceil(text.length / tokenBytes), blocks };
};

export interface EngineRun {
  readonly prompt: Hashed;
  /** The prompt and the answer that will follow it. */
  readonly whole: Hashed;
  first(cachedTokens: number): void;
  end(): void;
}

export class PrefixEngine {
  readonly #clock: Clock;
  readonly #settings: EngineSettings;
  /** Block hashes, the least recently used first. */
  readonly #cache = new Map<number, true>();
  readonly #waiting: EngineRun[] = [];
  #running = 0;
  /** When the prompts before will be computed: one after another, as the processor is shared. */
  #prefilledAt = 0;
  requests = 0;
  promptTokens = 0;
  cachedTokens = 0;

  constructor(clock: Clock, settings: EngineSettings) {
    this.#clock = clock;
    this.#settings = settings;
  }

  get busy(): number {
    return this.#running + this.#waiting.length;
  }

  /** Milliseconds until a prompt that came now would be computed. */
  delay(prompt: Hashed): number {
    const left = Math.max(0, this.#prefilledAt - this.#clock.now());
    const uncached = prompt.tokens - this.cachedOf(prompt);
    return left + uncached * this.#settings.prefillMsPerToken;
  }

  /** Tokens of a prompt that are cached now. */
  cachedOf({ blocks }: Hashed): number {
    const missing = blocks.findIndex((hash) => !this.#cache.has(hash));
    return (missing < 0 ? blocks.length : missing) * this.#settings.blockTokens;
  }

  send(run: EngineRun): void {
    this.requests++;
    this.#waiting.push(run);
    this.#startNext();
  }

  #startNext(): void {
    if (this.#running >= this.#settings.concurrency) return;
    const run = this.#waiting.shift();
    if (run === undefined) return;
    this.#running++;
    const now = this.#clock.now();
    const wait = Math.max(0, this.#prefilledAt - now);
    // What the prompts before compute is cached by the time its turn comes.
    this.#reserve(run, now + wait);
  }

  #reserve(run: EngineRun, at: number): void {
    const { prefillMsPerToken, decodeMsPerToken } = this.#settings;
    const { tokens } = run.prompt;
    const cached = Math.min(this.cachedOf(run.prompt), tokens - 1);
    this.promptTokens += tokens;
    this.cachedTokens += cached;
    this.#keep(run.prompt);
    this.#prefilledAt = at + (tokens - cached) * prefillMsPerToken;
    this.#clock.after(this.#prefilledAt - this.#clock.now(), () => {
      run.first(cached);
      this.#clock.after((run.whole.tokens - tokens) * decodeMsPerToken, () => {
        this.#keep(run.whole);
        this.#running--;
        run.end();
        this.#startNext();
      });
    });
  }

  /** Marks blocks as used now, the last of the prompt first: the start of a prompt outlives its end. */
  #keep({ blocks }: Hashed): void {
    const { cacheTokens, blockTokens } = this.#settings;
    for (let index = blocks.length - 1; index >= 0; index--) {
      const hash = blocks[index] ?? 0;
      this.#cache.delete(hash);
      this.#cache.set(hash, true);
    }
    const most = Math.floor(cacheTokens / blockTokens);
    for (const hash of this.#cache.keys()) {
      if (this.#cache.size <= most) break;
      this.#cache.delete(hash);
    }
  }
}
