/** Keeps the best few of scored items, best first, ties by id. */

export interface Scored {
  readonly sequence: number;
  readonly id: string;
  readonly similarity: number;
}

export class Best {
  readonly #limit: number;
  readonly #minimum: number;
  readonly #found: Scored[] = [];
  #bar: number;

  constructor(limit: number, minimum = Number.NEGATIVE_INFINITY) {
    this.#limit = limit;
    this.#minimum = minimum;
    this.#bar = limit > 0 ? minimum : Number.POSITIVE_INFINITY;
  }

  /** What scores less need not be offered. */
  get bar(): number {
    return this.#bar;
  }

  offer(candidate: Scored): void {
    if (!(candidate.similarity >= this.#minimum) || this.#limit === 0) return;
    let low = 0;
    let high = this.#found.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#found[middle];
      if (other !== undefined && isBetter(other, candidate)) low = middle + 1;
      else high = middle;
    }
    if (low >= this.#limit) return;
    this.#found.splice(low, 0, candidate);
    if (this.#found.length > this.#limit) this.#found.pop();
    if (this.#found.length === this.#limit) this.#bar = this.#found.at(-1)?.similarity ?? this.#bar;
  }

  found(): readonly Scored[] {
    return this.#found;
  }
}

const isBetter = (one: Scored, other: Scored): boolean =>
  one.similarity > other.similarity || (one.similarity === other.similarity && one.id < other.id);
