/** A bounded memory in slabs of equal size, so that tables grow without copying. */
import { createMemory, type Memory } from './similarity-kernel.ts';

export const slabBytes = 256 * 1024;
const pageBytes = 64 * 1024;
/** V8 gives no more to one memory. */
const mostBytes = 4 * 1024 * 1024 * 1024 - slabBytes;

export class Slabs {
  readonly memory: Memory;
  readonly #most: number;
  readonly #free: number[] = [];
  #taken = 1;
  #floats: Float32Array<ArrayBuffer>;

  /** Slab 0 is never given out: its user keeps the query and the scores there. */
  constructor(bytes: number) {
    this.#most = Math.max(2, Math.ceil(Math.min(bytes, mostBytes) / slabBytes));
    this.memory = createMemory(slabBytes / pageBytes, (this.#most * slabBytes) / pageBytes);
    this.#floats = new Float32Array(this.memory.buffer);
  }

  /** The whole memory; another view after each `take`. */
  get floats(): Float32Array<ArrayBuffer> {
    return this.#floats;
  }

  /** The byte offset of a slab; undefined when all are taken. */
  take(): number | undefined {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#taken >= this.#most) return undefined;
    const offset = this.#taken * slabBytes;
    if (offset >= this.memory.buffer.byteLength) {
      // In steps, as each makes a new view.
      const steps = Math.min(this.#most - this.#taken, Math.max(16, this.#taken >> 2));
      this.memory.grow((steps * slabBytes) / pageBytes);
      this.#floats = new Float32Array(this.memory.buffer);
    }
    this.#taken++;
    return offset;
  }

  release(offsets: readonly number[]): void {
    this.#free.push(...offsets);
  }
}
