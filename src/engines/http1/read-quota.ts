/** Limits how long the reads of all connections together may occupy one tick of the event loop. */

export interface Reader {
  /** Reads again, unless it is paused for another reason. */
  continueReading(): void;
}

/** Milliseconds from the first large read of a tick; those that come later wait for the next. */
const tickMs = 0.5;
/** Tokens that come one by one are not counted. */
const largeRead = 1024;

/**
 * The system hands over up to two megabytes per socket and tick: two hundred large responses at once would block
 * everything else for seconds. Bytes would be the wrong measure: a kilobyte of tokens takes many times as long as one of
 * vectors. Every response passes here, so nothing after it counts again.
 */
export class ReadQuota {
  readonly #now: () => number;
  #until = 0;
  /** How many there was time for in this tick. */
  #reads = 0;
  #tick: NodeJS.Immediate | undefined;
  /** In the order they came. */
  readonly #waiting = new Set<Reader>();

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** After a read was processed. False: the reader pauses until `continueReading` is called. */
  take(bytes: number, reader: Reader): boolean {
    if (bytes < largeRead) return true;
    const now = this.#now();
    if (this.#tick === undefined) this.#begin(now);
    if (now < this.#until) {
      this.#reads++;
      return true;
    }
    this.#waiting.add(reader);
    return false;
  }

  isWaiting(reader: Reader): boolean {
    return this.#waiting.has(reader);
  }

  leave(reader: Reader): void {
    this.#waiting.delete(reader);
  }

  #begin(now: number): void {
    this.#until = now + tickMs;
    this.#reads = 0;
    this.#tick = setImmediate(() => this.#next());
  }

  /** As many continue as there was time for, at least one. */
  #next(): void {
    this.#tick = undefined;
    let left = Math.max(1, this.#reads);
    for (const reader of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(reader);
      reader.continueReading();
    }
    if (this.#waiting.size > 0) this.#begin(this.#now());
  }
}
