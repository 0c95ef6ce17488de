/** Whether a request body arrives too slowly. */
import type { EdgeLimits } from './limits.ts';

export class BodyPace {
  readonly #since: number;
  readonly #before: number;
  #quietSince: number;
  #seen: number;

  constructor(now: number, received: number) {
    this.#since = this.#quietSince = now;
    this.#before = this.#seen = received;
  }

  /** The error message for the client; undefined while it is fast enough. */
  lateness(now: number, received: number, limits: EdgeLimits): string | undefined {
    if (received !== this.#seen) this.#quietSince = now;
    this.#seen = received;
    if (now - this.#quietSince >= limits.bodyIdleMs)
      return `No byte of the request body arrived for ${limits.bodyIdleMs / 1000} s`;
    const waited = now - this.#since;
    const slowest = (limits.bodyMinBytesPerSecond * waited) / 1000;
    return waited >= limits.bodyIdleMs && received - this.#before < slowest
      ? `The request body arrived more slowly than ${limits.bodyMinBytesPerSecond} bytes per second`
      : undefined;
  }
}
