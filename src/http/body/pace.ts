/** Whether a request body arrives too slowly. */
import type { EdgeLimits } from '../limits.ts';

export class BodyPace {
  /** Milliseconds during which the body was read: not those in which its reader, or we, paused it. */
  #reading = 0;
  #looked: number;
  /** The interval that is measured, and when the last byte was seen, by `#reading`. */
  #since = 0;
  #before: number;
  #quietSince = 0;
  #seen: number;

  constructor(now: number, received: number) {
    this.#looked = now;
    this.#before = this.#seen = received;
  }

  /** The body is paused: nothing can arrive. */
  pause(now: number): void {
    this.#looked = now;
    this.#since = this.#quietSince = this.#reading;
    this.#before = this.#seen;
  }

  /**
   * The error message for the client; undefined while it is fast enough. Every interval is measured for itself: a fast
   * beginning does not pay for a slow end. `holds`: the body takes memory that others wait for.
   */
  lateness(now: number, received: number, limits: EdgeLimits, holds: boolean): string | undefined {
    this.#reading += now - this.#looked;
    this.#looked = now;
    if (received !== this.#seen) this.#quietSince = this.#reading;
    this.#seen = received;
    if (this.#reading - this.#quietSince >= limits.bodyIdleMs)
      return `No byte of the request body arrived for ${limits.bodyIdleMs / 1000} s`;
    if (holds && this.#reading >= limits.bodyTotalMs)
      return `The request body did not arrive within ${limits.bodyTotalMs / 1000} s`;
    const interval = this.#reading - this.#since;
    if (interval < limits.bodyIdleMs) return undefined;
    if (received - this.#before < (limits.bodyMinBytesPerSecond * interval) / 1000)
      return `The request body arrived more slowly than ${limits.bodyMinBytesPerSecond} bytes per second`;
    this.#since = this.#reading;
    this.#before = received;
    return undefined;
  }
}
