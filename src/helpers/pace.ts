/** Estimates when a waiter gets a slot from how long slots were held. */

export class Pace {
  /** Moving average of the times a slot was held, in milliseconds. */
  #hold: number | undefined;
  #moved: number;

  constructor(now: number) {
    this.#moved = now;
  }

  started(now: number): void {
    this.#moved = now;
  }

  released(held: number, now: number): void {
    this.#hold = this.#hold === undefined ? held : this.#hold + (held - this.#hold) / 8;
    this.#moved = now;
  }

  /** Milliseconds until the last of so many waiters may expect a slot. A long standstill outweighs the past. */
  estimate(waiting: number, slots: number, now: number): number {
    return waiting * Math.max((this.#hold ?? 0) / slots, now - this.#moved);
  }
}

/** A `retry-after` header of 1 to 60 whole seconds, never sooner than asked for within those; 1 where nothing is known. */
export const retryAfter = (milliseconds: number): { readonly 'retry-after': string } => ({
  'retry-after': String(Math.min(60, Math.max(1, Math.ceil(milliseconds / 1000) || 1))),
});
