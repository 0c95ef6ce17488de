/** A sliding window of start times: exact, O(1) per decision, and no larger than its limit. */

export class StartWindow {
  readonly #length: number;
  /** A ring; its size is a power of two, so that places are found by masking. */
  #times: number[] = [0.5, 0.5, 0.5, 0.5];
  #first = 0;
  #count = 0;

  constructor(milliseconds: number) {
    this.#length = milliseconds;
  }

  /** Starts that still count at `now`: one at t counts until t + length, exclusive. */
  count(now: number): number {
    const past = now - this.#length;
    while (this.#count > 0 && this.#at(0) <= past) {
      this.#first = (this.#first + 1) & (this.#times.length - 1);
      this.#count--;
    }
    return this.#count;
  }

  add(now: number): void {
    if (this.#count === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#count) & (this.#times.length - 1)] = now;
    this.#count++;
  }

  /** Starts that counted when it was last asked or added to. */
  get size(): number {
    return this.#count;
  }

  /** When none counts any more, if there are no further starts. */
  get emptyAt(): number {
    return this.#at(this.#count - 1) + this.#length;
  }

  /** Milliseconds from `now` until fewer than `limit` starts count. */
  waitFor(limit: number, now: number): number {
    const surplus = this.count(now) - limit;
    return surplus < 0 ? 0 : this.#at(surplus) + this.#length - now;
  }

  #at(position: number): number {
    return this.#times[(this.#first + position) & (this.#times.length - 1)] ?? Number.NEGATIVE_INFINITY;
  }

  /** A ring that is full, twice over: its starts lie in a row from wherever the first is. */
  #grow(): void {
    this.#times = this.#times.concat(this.#times);
  }
}
