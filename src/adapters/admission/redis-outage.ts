/** Whether Redis is unavailable, and how many processes share it. */
import type { Clock } from './clock.ts';
import type { Heartbeat } from './redis-gates.ts';

export class Outage {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  /** From a failed call until Redis knows again what all processes run. */
  #active = false;
  /** When a call last failed, by the server's clock; when Redis first responded after that, by ours. */
  #failedAt = 0;
  #respondedAt: number | undefined;
  /** The server's clock minus ours. */
  #clockOffset = 0;
  #replicas = 1;

  constructor(ttlMs: number, clock: Clock) {
    this.#ttlMs = ttlMs;
    this.#clock = clock;
  }

  get active(): boolean {
    return this.#active;
  }

  /** Processes must have reported since then to count as reconnected; by the server's clock. */
  get since(): number {
    return this.#failedAt;
  }

  get replicas(): number {
    return this.#replicas;
  }

  /** True when Redis was available until now. */
  begin(): boolean {
    this.#failedAt = this.#clock.now() + this.#clockOffset;
    this.#respondedAt = undefined;
    const wasAvailable = !this.#active;
    this.#active = true;
    return wasAvailable;
  }

  /** True when this ends an outage: all processes have reported what they run, or have had the time to. */
  endBy({ processes, reportedSince, time }: Heartbeat): boolean {
    const now = this.#clock.now();
    this.#clockOffset = time - now;
    this.#respondedAt ??= now;
    const recovered =
      this.#active && (reportedSince >= this.#replicas || now - this.#respondedAt >= this.#ttlMs);
    if (recovered) this.#active = false;
    // During an outage fewer report than there are; their quotas must not be taken.
    if (!this.#active) this.#replicas = Math.max(1, processes);
    return recovered;
  }
}
