/** A piece of a log: whole events, in a block of memory or on disk. */
import type { LogBudget } from './log-budget.ts';
import type { Spilled } from './spill-file.ts';

export class Segment {
  /** Number of its first event. */
  readonly first: number;
  count = 0;
  /** Where it begins and ends, in bytes since the start of the stream. */
  readonly start: number;
  end: number;
  readonly #budget: LogBudget;
  readonly #subscription: string;
  /** Bytes, as thousands of texts would be moved by every garbage collection. */
  #memory: Buffer | undefined;
  /** Nothing more is added. */
  #sealed = false;
  #spilled: Spilled | undefined;
  /** Reads from disk, or a write to it, that are under way: nothing that they use must be reused. */
  #reads = 0;
  #writes = 0;
  #dropped = false;

  /** With room for so many bytes, at least. */
  constructor(
    budget: LogBudget,
    subscription: string,
    { first, start }: Pick<Segment, 'first' | 'start'>,
    room: number,
  ) {
    this.#budget = budget;
    this.#subscription = subscription;
    this.#memory = budget.take(subscription, room);
    this.first = first;
    this.start = start;
    this.end = start;
  }

  /** Bytes of memory that it takes; 0 on disk. */
  get memory(): number {
    return this.#memory?.length ?? 0;
  }

  /** Copies whole events. False: it has no room for them. */
  add(bytes: Uint8Array, count: number): boolean {
    const memory = this.#memory;
    const used = this.end - this.start;
    if (memory === undefined || this.#sealed || used + bytes.length > memory.length) return false;
    memory.set(bytes, used);
    this.end += bytes.length;
    this.count += count;
    return true;
  }

  /** A copy, at once where it is in memory. */
  bytes(): Buffer | Promise<Buffer> {
    return this.#memory === undefined ? this.#load() : Buffer.from(this.#filled(this.#memory));
  }

  /** Moves it to disk. */
  async spill(): Promise<void> {
    const memory = this.#memory;
    if (memory === undefined) return;
    this.#sealed = true;
    this.#writes++;
    try {
      const spilled = await this.#budget.file.write(this.#filled(memory));
      if (this.#dropped) this.#budget.file.free(spilled);
      else {
        this.#spilled = spilled;
        this.#budget.keep(this.#subscription, this.end - this.start);
      }
    } finally {
      this.#writes--;
      if (this.#dropped || this.#spilled !== undefined) this.#release();
    }
  }

  drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    if (this.#spilled !== undefined) this.#budget.keep(this.#subscription, this.start - this.end);
    if (this.#writes === 0) this.#release();
    this.#free();
  }

  #filled(memory: Buffer): Buffer {
    return memory.subarray(0, this.end - this.start);
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

  #release(): void {
    if (this.#memory === undefined) return;
    this.#budget.release(this.#subscription, this.#memory);
    this.#memory = undefined;
  }

  #free(): void {
    if (this.#spilled === undefined || this.#reads > 0) return;
    this.#budget.file.free(this.#spilled);
    this.#spilled = undefined;
  }
}
