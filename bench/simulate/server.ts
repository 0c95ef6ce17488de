/** A server with one core that works off calls in the order in which they arrive. */

export class Server {
  #freeAt = 0;
  /** Microseconds of work so far. */
  work = 0;
  calls = 0;

  /** Milliseconds at which a call that arrives at `now` is done. */
  serve(now: number, microseconds: number): number {
    this.#freeAt = Math.max(this.#freeAt, now) + microseconds / 1000;
    this.work += microseconds;
    this.calls++;
    return this.#freeAt;
  }
}
