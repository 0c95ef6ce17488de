/** Random numbers and texts that are the same in every run. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 up to 1: mulberry32. */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  between(least: number, most: number): number {
    return least + Math.floor(this.unit() * (most - least + 1));
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.unit());
  }

  /** An index below `count`; the n-th is chosen in proportion to 1/n. */
  zipf(count: number): number {
    let sum = 0;
    for (let rank = 1; rank <= count; rank++) sum += 1 / rank;
    let left = this.unit() * sum;
    for (let rank = 1; rank <= count; rank++) {
      left -= 1 / rank;
      if (left <= 0) return rank - 1;
    }
    return count - 1;
  }

  /** Some four characters a token, as in English. */
  text(tokens: number): string {
    const words: string[] = [];
    for (let index = 0; index < tokens; index++)
      words.push(syllables[this.between(0, syllables.length - 1)] ?? '');
    return words.join(' ');
  }
}

const syllables = 'ant ban cor dim elk fen gor hut ion jam kit lor mud nor oak pan qui rot sun tor'.split(
  ' ',
);
