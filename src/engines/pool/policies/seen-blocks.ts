/** Remembers which replicas have seen which prompt blocks: a hash table of fixed size that drops the oldest. */
import type { PromptBlocks } from './prompt-blocks.ts';
import { MOST_BLOCKS } from './prompt-blocks.ts';

/** Blocks that are remembered: 134 MB of prompts in 3 MB. */
const CAPACITY = 2 ** 18;
/** Entries that a block may be in. */
const WAYS = 4;
/** Replicas are bits of a number; beyond this several share one. */
export const SLOTS = 32;

export class SeenBlocks {
  readonly #buckets: number;
  /** The second hash of a block; 0 for a free entry. */
  readonly #tags: Int32Array;
  /** Slots of the replicas that have seen it. */
  readonly #slots: Int32Array;
  /** When it was last seen. */
  readonly #stamps: Int32Array;
  #clock = 0;
  /** Where the blocks of the current prompt are; -1: nowhere. */
  readonly #entries = new Int32Array(MOST_BLOCKS);
  /** Blocks of the current prompt that each slot has seen, counted from its start. */
  readonly depths = new Int32Array(SLOTS);

  constructor(capacity = CAPACITY) {
    this.#buckets = capacity / WAYS;
    this.#tags = new Int32Array(capacity);
    this.#slots = new Int32Array(capacity);
    this.#stamps = new Int32Array(capacity);
  }

  /** Sets `depths` of these slots. */
  match({ chain, count }: PromptBlocks, slots: number): void {
    let live = slots;
    for (let block = 0; block < count; block++) {
      const entry = this.#find(chain[2 * block] as number, chain[2 * block + 1] as number);
      this.#entries[block] = entry;
      const seen = entry < 0 ? 0 : live & (this.#slots[entry] as number);
      if (seen !== live) this.#setDepths(live & ~seen, block);
      live = seen;
    }
    this.#setDepths(live, count);
  }

  /** The prompt that was matched last goes to a replica of this slot. */
  add({ chain, count }: PromptBlocks, slot: number): void {
    this.#clock = (this.#clock + 1) | 0;
    const bit = 1 << slot;
    for (let block = 0; block < count; block++) {
      let entry = this.#entries[block] as number;
      const tag = tagOf(chain[2 * block + 1] as number);
      // An earlier block of the same prompt may have taken its entry.
      if (entry < 0 || this.#tags[entry] !== tag) {
        entry = this.#replaceable(chain[2 * block] as number);
        this.#tags[entry] = tag;
        this.#slots[entry] = 0;
      }
      this.#slots[entry] = (this.#slots[entry] as number) | bit;
      this.#stamps[entry] = this.#clock;
    }
  }

  /** No block is taken to be there any more. */
  forget(slot: number): void {
    const others = ~(1 << slot);
    for (let entry = 0; entry < this.#slots.length; entry++)
      this.#slots[entry] = (this.#slots[entry] as number) & others;
  }

  #setDepths(slots: number, depth: number): void {
    for (let left = slots; left !== 0; left &= left - 1) this.depths[31 - Math.clz32(left & -left)] = depth;
  }

  #find(hash: number, second: number): number {
    const tag = tagOf(second);
    const first = this.#bucket(hash);
    for (let entry = first; entry < first + WAYS; entry++) if (this.#tags[entry] === tag) return entry;
    return -1;
  }

  /** A free entry, or the one not seen for the longest time. */
  #replaceable(hash: number): number {
    const first = this.#bucket(hash);
    let oldest = first;
    let age = -1;
    for (let entry = first; entry < first + WAYS; entry++) {
      if (this.#tags[entry] === 0) return entry;
      const its = (this.#clock - (this.#stamps[entry] as number)) | 0;
      if (its <= age) continue;
      oldest = entry;
      age = its;
    }
    return oldest;
  }

  #bucket(hash: number): number {
    return (hash & (this.#buckets - 1)) * WAYS;
  }
}

const tagOf = (hash: number): number => (hash === 0 ? 1 : hash);
