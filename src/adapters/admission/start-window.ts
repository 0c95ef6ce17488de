/** The starts of the last minute, oldest first: exact, O(1) per decision, and no larger than the limit it guards. */

export const windowMs = 60_000;

export class StartWindow {
  #times = new Float64Array(8);
  #first = 0;
  #count = 0;

  /** Starts that still count at `now`. */
  count(now: number): number {
    const oldestThatCounts = now - windowMs;
    while (this.#count > 0 && this.#at(0) <= oldestThatCounts) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#count--;
    }
    return this.#count;
  }

  add(now: number): void {
    if (this.#count === this.#times.length) this.#grow();
    this.#times[(this.#first + this.#count) % this.#times.length] = now;
    this.#count++;
  }

  /** Milliseconds from `now` until fewer than `limit` starts count. */
  waitFor(limit: number, now: number): number {
    const surplus = this.count(now) - limit;
    return surplus < 0 ? 0 : this.#at(surplus) + windowMs - now;
  }

  #at(position: number): number {
    return this.#times[(this.#first + position) % this.#times.length] ?? Number.NEGATIVE_INFINITY;
  }

  #grow(): void {
    const larger = new Float64Array(this.#times.length * 2);
    for (let i = 0; i < this.#count; i++) larger[i] = this.#at(i);
    this.#times = larger;
    this.#first = 0;
  }
}
