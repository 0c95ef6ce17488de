/** Enforces the time limits of running calls with one coarse timer. */
import { type Indexed, IndexedList } from '../../helpers/indexed-list.ts';

export interface Expiring extends Indexed {
  /** `now` is of this clock, like the times the call noted; all of them are up to `tick` old. */
  expire(now: number): void;
  /** Bytes read and not passed on yet. */
  readonly pendingBytes: number;
}

export class Deadlines {
  /** Milliseconds; as old as the last tick, which makes reading it free. */
  now = performance.now();
  readonly tick: number;
  readonly #calls = new IndexedList<Expiring>();
  #timer: NodeJS.Timeout | undefined;

  /** Ticks eight times within the shortest limit, but neither all the time nor hardly ever. */
  constructor(shortestLimit: number) {
    this.tick = Math.min(Math.max(shortestLimit / 8, 10), 1000);
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Of all calls. */
  pendingBytes(): number {
    let sum = 0;
    for (const call of this.#calls) sum += call.pendingBytes;
    return sum;
  }

  add(call: Expiring): void {
    this.#calls.add(call);
    if (this.#timer !== undefined) return;
    this.now = performance.now();
    this.#timer = setInterval(() => this.#sweep(), this.tick).unref();
  }

  delete(call: Expiring): void {
    this.#calls.delete(call);
  }

  #sweep(): void {
    this.now = performance.now();
    for (const call of this.#calls) call.expire(this.now);
    // Stopped by the first idle tick rather than by the last call: at a steady rate it is never restarted.
    if (this.#calls.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
