/** Which process started what in the last minute before Redis fails: what processes know of themselves then. */

export class StartLog {
  readonly #subscriptions: number;
  readonly #processes: number;
  /** In the order of their times; by subscription and process once sorted. */
  #owners: Uint32Array;
  #starters: Uint32Array;
  #times: Float64Array;
  #count = 0;

  constructor(capacity: number, subscriptions: number, processes: number) {
    this.#subscriptions = subscriptions;
    this.#processes = processes;
    this.#owners = new Uint32Array(capacity);
    this.#starters = new Uint32Array(capacity);
    this.#times = new Float64Array(capacity);
  }

  keyOf(subscription: number, process: number): number {
    return subscription * this.#processes + process;
  }

  add(subscription: number, process: number, time: number): void {
    if (this.#count === this.#times.length) throw new Error('more starts than the load allows');
    this.#owners[this.#count] = subscription;
    this.#starters[this.#count] = process;
    this.#times[this.#count++] = time;
  }

  /** Before reading: two passes that keep the order of equals. */
  sort(): void {
    this.#order(this.#starters, this.#processes);
    this.#order(this.#owners, this.#subscriptions);
  }

  #order(by: Uint32Array, values: number): void {
    const next = new Uint32Array(values + 1);
    for (let at = 0; at < this.#count; at++) {
      const after = (by[at] ?? 0) + 1;
      next[after] = (next[after] ?? 0) + 1;
    }
    for (let value = 1; value <= values; value++) next[value] = (next[value] ?? 0) + (next[value - 1] ?? 0);
    const owners = new Uint32Array(this.#count);
    const starters = new Uint32Array(this.#count);
    const times = new Float64Array(this.#count);
    for (let at = 0; at < this.#count; at++) {
      const value = by[at] ?? 0;
      const to = next[value] ?? 0;
      next[value] = to + 1;
      owners[to] = this.#owners[at] ?? 0;
      starters[to] = this.#starters[at] ?? 0;
      times[to] = this.#times[at] ?? 0;
    }
    [this.#owners, this.#starters, this.#times] = [owners, starters, times];
  }

  /** Times after `past`, in order. */
  startsOf(subscription: number, process: number, past: number): number[] {
    const key = this.keyOf(subscription, process);
    const keyAt = (at: number): number => this.keyOf(this.#owners[at] ?? 0, this.#starters[at] ?? 0);
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keyAt(middle) < key) low = middle + 1;
      else high = middle;
    }
    const times: number[] = [];
    for (let at = low; at < this.#count && keyAt(at) === key; at++) {
      const time = this.#times[at] ?? 0;
      if (time > past) times.push(time);
    }
    return times;
  }
}
