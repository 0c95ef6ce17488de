/** A sliding window of amounts that may change while they count: exact, and O(1) for each. */

/** Of each amount: when it was added, how much counts, how much of that is not settled yet. */
const fields = 3;

export class AmountWindow {
  readonly #length: number;
  /** A ring; its size is a power of two, so that places are found by masking. */
  #ring = new Float64Array(4 * fields);
  /** Amounts are numbered as they come: the oldest that counts, and the next one. */
  #first = 0;
  #next = 0;
  #total = 0;
  #reserved = 0;

  constructor(milliseconds: number) {
    this.#length = milliseconds;
  }

  /** What counts at `now`: an amount added at t counts until t + length, exclusive. */
  total(now: number): number {
    const past = now - this.#length;
    while (this.#first < this.#next) {
      const at = this.#at(this.#first);
      if ((this.#ring[at] ?? 0) > past) break;
      this.#total -= this.#ring[at + 1] ?? 0;
      this.#reserved -= this.#ring[at + 2] ?? 0;
      this.#first++;
    }
    return this.#total;
  }

  empty(now: number): boolean {
    this.total(now);
    return this.#first === this.#next;
  }

  /** Not settled, of what counted when it was last asked. */
  get reserved(): number {
    return this.#reserved;
  }

  /** Returns its number. */
  add(amount: number, now: number): number {
    if ((this.#next - this.#first) * fields === this.#ring.length) this.#grow();
    const at = this.#at(this.#next);
    this.#ring[at] = now;
    this.#ring[at + 1] = amount;
    this.#ring[at + 2] = amount;
    this.#total += amount;
    this.#reserved += amount;
    return this.#next++;
  }

  /** Has no effect on one that no longer counts. */
  settle(number: number, amount: number): void {
    if (number < this.#first) return;
    const at = this.#at(number);
    this.#total += amount - (this.#ring[at + 1] ?? 0);
    this.#reserved -= this.#ring[at + 2] ?? 0;
    this.#ring[at + 1] = amount;
    this.#ring[at + 2] = 0;
  }

  /** Milliseconds from `now` until no more than `most` counts, if nothing is added. */
  waitFor(most: number, now: number): number {
    let left = this.total(now);
    for (let number = this.#first; left > most && number < this.#next; number++) {
      const at = this.#at(number);
      left -= this.#ring[at + 1] ?? 0;
      if (left <= most) return (this.#ring[at] ?? 0) + this.#length - now;
    }
    return 0;
  }

  #at(number: number): number {
    return (number & (this.#ring.length / fields - 1)) * fields;
  }

  #grow(): void {
    const old = this.#ring;
    const places = Array.from({ length: this.#next - this.#first }, (_, index) =>
      this.#at(this.#first + index),
    );
    this.#ring = new Float64Array(old.length * 2);
    for (const [index, place] of places.entries())
      this.#ring.set(old.subarray(place, place + fields), this.#at(this.#first + index));
  }
}
