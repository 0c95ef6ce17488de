/** Calls to Redis that failed and heartbeats it answered in; whether it is away, and by how many processes it is shared, out. */
import type { Clock } from './clock.ts';
import type { Heartbeat } from './redis-gates.ts';

export class Absence {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  /** From a call that failed until Redis knows again what all processes run. */
  #away = false;
  /** When a call last failed, by the server's clock; when Redis first answered after that, by ours. */
  #lostAt = 0;
  #answeredAt: number | undefined;
  /** What the server's clock shows more than ours. */
  #ahead = 0;
  #replicas = 1;

  constructor(ttlMs: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get isAway(): boolean {
    return this.#away;
  }

  /** Since when processes must have been heard of to count as back, by the server's clock. */
  get since(): number {
    return this.#lostAt;
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** True when it was there until now. */
  begins(): boolean {
    this.#lostAt = this.#clock.now() + this.#ahead;
    this.#answeredAt = undefined;
    const wasThere = !this.#away;
    this.#away = true;
    return wasThere;
  }

  /** True when it was away until now: all have told it what they run, or have had the time to. */
  ends({ processes, heardSince, time }: Heartbeat): boolean {
    const now = this.#clock.now();
    this.#ahead = time - now;
    this.#answeredAt ??= now;
    const isBack = this.#away && (heardSince >= this.#replicas || now - this.#answeredAt >= this.#ttlMs);
    if (isBack) this.#away = false;
    // While away, fewer are heard of than there are; their shares are not to be taken.
    if (!this.#away) this.#replicas = Math.max(1, processes);
    return isBack;
  }
}
