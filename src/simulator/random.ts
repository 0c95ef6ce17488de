/** Deterministic pseudo-random numbers by seed. */

/** FNV-1a over UTF-16 units, carried on from `hash`. */
export function hashText(text: string, hash = 0x811c9dc5): number {
  let value = hash;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

/** A small generator (mulberry32): one 32-bit state, good enough for picking words. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** At least 0, below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x100000000;
  }

  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.integer(0, items.length - 1)] ?? items[0];
  }

  hex(length: number): string {
    let text = '';
    while (text.length < length) text += this.integer(0, 15).toString(16);
    return text;
  }

  /** A generator of its own for another purpose, so that one does not disturb the other. */
  fork(purpose: string): Random {
    return new Random(hashText(purpose, this.#state));
  }
}
