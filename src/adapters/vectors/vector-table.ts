/** The vectors of one store in memory: put and removed by sequence, scored in one pass. */
import type { Best, Scored } from './best.ts';
import { lanes, type Scan } from './similarity-kernel.ts';
import { type Slabs, slabBytes } from './slabs.ts';

/** Slab 0: the query from its start, scores in its second half. */
const queryOffset = 0;
const scoresOffset = slabBytes / 2;

/** A query must fit into its half of slab 0. */
export const mostDimensions = scoresOffset / 4;

export class VectorTable {
  /** The store's version that the rows are from. */
  version = -1;
  readonly #slabs: Slabs;
  readonly #scan: Scan;
  /** Floats of a row, with its padding. */
  readonly #width: number;
  readonly #rowsOfSlab: number;
  readonly #offsets: number[] = [];
  readonly #sequences: number[] = [];
  readonly #files: number[] = [];
  readonly #ids: string[] = [];
  readonly #slots = new Map<number, number>();

  constructor(slabs: Slabs, scan: Scan, dimensions: number) {
    this.#slabs = slabs;
    this.#scan = scan;
    this.#width = Math.ceil(dimensions / lanes) * lanes;
    this.#rowsOfSlab = Math.min(Math.floor(slabBytes / 4 / this.#width), (slabBytes - scoresOffset) / 4);
  }

  get size(): number {
    return this.#sequences.length;
  }

  /** False when there is no memory left. */
  put(sequence: number, file: number, id: string, numbers: Uint8Array): boolean {
    const slot = this.#slots.get(sequence) ?? this.#sequences.length;
    if (slot === this.#offsets.length * this.#rowsOfSlab) {
      const offset = this.#slabs.take();
      if (offset === undefined) return false;
      this.#offsets.push(offset);
    }
    const start = this.#startOf(slot);
    // A slab may have been another's: the padding is cleared too.
    this.#slabs.floats.fill(0, start, start + this.#width);
    new Uint8Array(this.#slabs.memory.buffer).set(numbers, start * 4);
    this.#slots.set(sequence, slot);
    this.#sequences[slot] = sequence;
    this.#files[slot] = file;
    this.#ids[slot] = id;
    return true;
  }

  /** The last row takes the slot of the removed one. */
  remove(sequence: number): void {
    const slot = this.#slots.get(sequence);
    if (slot === undefined) return;
    this.#slots.delete(sequence);
    const last = this.#sequences.length - 1;
    const moved = this.#sequences.pop() ?? 0;
    const file = this.#files.pop() ?? 0;
    const id = this.#ids.pop() ?? '';
    if (slot !== last) {
      const from = this.#startOf(last);
      this.#slabs.floats.copyWithin(this.#startOf(slot), from, from + this.#width);
      this.#slots.set(moved, slot);
      this.#sequences[slot] = moved;
      this.#files[slot] = file;
      this.#ids[slot] = id;
    }
    if (last === (this.#offsets.length - 1) * this.#rowsOfSlab) this.#slabs.release(this.#offsets.splice(-1));
  }

  removeFile(file: number): void {
    for (let slot = this.#files.length - 1; slot >= 0; slot--) {
      const sequence = this.#sequences[slot];
      if (this.#files[slot] === file && sequence !== undefined) this.remove(sequence);
    }
  }

  clear(): void {
    this.#slabs.release(this.#offsets.splice(0));
    this.#sequences.length = 0;
    this.#files.length = 0;
    this.#ids.length = 0;
    this.#slots.clear();
    this.version = -1;
  }

  /** Offers every row, or every row of one file. */
  search(query: Float32Array, best: Best, file?: number): void {
    const { floats } = this.#slabs;
    floats.fill(0, queryOffset, queryOffset + this.#width);
    floats.set(query, queryOffset);
    let slot = 0;
    for (const offset of this.#offsets) {
      const rows = Math.min(this.#rowsOfSlab, this.size - slot);
      this.#scan(offset, offset + rows * this.#width * 4, this.#width * 4, queryOffset, scoresOffset);
      for (let row = 0; row < rows; row++, slot++) {
        const similarity = floats[scoresOffset / 4 + row] ?? 0;
        if (similarity < best.bar || (file !== undefined && this.#files[slot] !== file)) continue;
        best.offer(this.#scored(slot, similarity));
      }
    }
  }

  #scored(slot: number, similarity: number): Scored {
    return {
      sequence: this.#sequences[slot] ?? 0,
      id: this.#ids[slot] ?? '',
      similarity: Math.max(-1, Math.min(1, similarity)),
    };
  }

  #startOf(slot: number): number {
    const offset = this.#offsets[Math.floor(slot / this.#rowsOfSlab)] ?? 0;
    return offset / 4 + (slot % this.#rowsOfSlab) * this.#width;
  }
}
