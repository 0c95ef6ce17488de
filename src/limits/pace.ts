/** How long slots are held and when one last changed hands in; when the next in line should get one, out. */

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

  /** Milliseconds until the last of so many in line may expect one of the slots. A long standstill counts for more than the past. */
  turn(waiting: number, slots: number, now: number): number {
    return waiting * Math.max((this.#hold ?? 0) / slots, now - this.#moved);
  }
}

/** A `retry-after` header of 1 to 60 whole seconds, never sooner than asked for within those. */
export const retryAfter = (milliseconds: number): { readonly 'retry-after': string } => ({
  'retry-after': String(Math.min(60, Math.max(1, Math.ceil(milliseconds / 1000)))),
});
