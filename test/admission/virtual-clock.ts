/** A virtual clock that advances only when a test says so. */
import type { Clock } from '../../src/adapters/admission/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(start = 1_000_000) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, callback: () => void): () => void {
    const timer = { at: this.#now + milliseconds, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Runs what falls due on the way, in order; `settle` is awaited after each. */
  async advance(milliseconds: number, settle: () => Promise<void> = async () => undefined): Promise<void> {
    const target = this.#now + milliseconds;
    for (;;) {
      const next = this.#earliest();
      if (next === undefined || next.at > target) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settle();
    }
    this.#now = target;
  }

  /** As when somebody sets a wall clock: no timer notices. */
  step(milliseconds: number): void {
    this.#now += milliseconds;
  }

  #earliest(): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    return earliest;
  }
}
