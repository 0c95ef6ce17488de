/** A piece of a log: whole events, in memory or on disk. */
import type { LogBudget } from './log-budget.ts';
import type { Spilled } from './spill-file.ts';

export class Segment {
  /** Number of its first event. */
  readonly first: number;
  readonly count: number;
  /** Where it begins and ends, in bytes since the start of the stream. */
  readonly start: number;
  readonly end: number;
  readonly #budget: LogBudget;
  readonly #subscription: string;
  /** In memory: texts, until somebody needs bytes. Most logs are never read again. */
  #texts: readonly string[] | undefined;
  #bytes: Buffer | undefined;
  #spilled: Spilled | undefined;
  /** Reads from disk that are under way: its blocks must not be reused. */
  #reads = 0;
  #dropped = false;

  /** Its bytes are counted as memory of the log already. */
  constructor(
    budget: LogBudget,
    subscription: string,
    place: Pick<Segment, 'first' | 'count' | 'start' | 'end'>,
    texts: readonly string[],
  ) {
    this.#budget = budget;
    this.#subscription = subscription;
    this.#texts = texts;
    this.first = place.first;
    this.count = place.count;
    this.start = place.start;
    this.end = place.end;
  }

  get inMemory(): boolean {
    return this.#bytes !== undefined || this.#texts !== undefined;
  }

  /** Bytes at once where they are in memory. */
  bytes(): Buffer | Promise<Buffer> {
    return this.#encoded() ?? this.#load();
  }

  #encoded(): Buffer | undefined {
    if (this.#texts !== undefined) this.#bytes = Buffer.from(this.#texts.join(''));
    this.#texts = undefined;
    return this.#bytes;
  }

  /** Moves it to disk. */
  async spill(): Promise<void> {
    const bytes = this.#encoded();
    if (bytes === undefined) return;
    const spilled = await this.#budget.file.write(bytes);
    if (this.#dropped) {
      this.#budget.file.free(spilled);
      return;
    }
    this.#spilled = spilled;
    this.#bytes = undefined;
    this.#budget.memory -= bytes.length;
  }

  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    const length = this.end - this.start;
    if (this.inMemory) this.#budget.use(this.#subscription, -length);
    else this.#budget.keep(this.#subscription, -length);
    this.#bytes = undefined;
    this.#texts = undefined;
    this.#free();
  }

  async #load(): Promise<Buffer> {
    const spilled = this.#spilled;
    if (spilled === undefined) throw new Error('This part of the stream is no longer kept');
    this.#reads++;
    try {
      return await this.#budget.file.read(spilled);
    } finally {
      this.#reads--;
      if (this.#dropped) this.#free();
    }
  }

  #free(): void {
    if (this.#spilled === undefined || this.#reads > 0) return;
    this.#budget.file.free(this.#spilled);
    this.#spilled = undefined;
  }
}
