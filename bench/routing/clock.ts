/** Time that passes by itself, or as fast as its events can be computed. */

export interface Clock {
  /** Milliseconds. */
  now(): number;
  after(milliseconds: number, work: () => void): void;
}

/** The machine's own, slowed down: on a busy machine the time that gateways take from each other then matters less. */
export const slowedClock = (factor: number): Clock => ({
  now: () => performance.now() / factor,
  after: (milliseconds, work) => void setTimeout(work, milliseconds * factor),
});

interface Event {
  readonly at: number;
  /** Events of one moment keep their order. */
  readonly number: number;
  readonly work: () => void;
}

/** A binary heap of events; `run` jumps from one to the next. */
export class VirtualClock implements Clock {
  readonly #heap: Event[] = [];
  #now = 0;
  #count = 0;

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, work: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.#now + milliseconds, number: this.#count++, work });
    for (let index = heap.length - 1; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!this.#swapUnlessOrdered(parent, index)) break;
      index = parent;
    }
  }

  /** Until no event is left. */
  run(): void {
    for (let next = this.#pop(); next !== undefined; next = this.#pop()) {
      this.#now = next.at;
      next.work();
    }
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      const left = 2 * index + 1;
      const right = left + 1;
      const child = isBefore(heap[right], heap[left]) ? right : left;
      if (child >= heap.length || !this.#swapUnlessOrdered(index, child)) return first;
      index = child;
    }
  }

  #swapUnlessOrdered(upper: number, lower: number): boolean {
    const one = this.#heap[upper];
    const other = this.#heap[lower];
    if (one === undefined || other === undefined || !isBefore(other, one)) return false;
    this.#heap[upper] = other;
    this.#heap[lower] = one;
    return true;
  }
}

const isBefore = (one: Event | undefined, other: Event | undefined): boolean =>
  one !== undefined &&
  (other === undefined || one.at < other.at || (one.at === other.at && one.number < other.number));
