/** Limits the bytes that all connections together read in one tick of the event loop. */

export interface Reader {
  /** Reads again, unless it is paused for another reason. */
  continueReading(): void;
}

/** What may be read in a tick: a few milliseconds of work. */
const tickBytes = 1024 * 1024;
/** Each of them may fill the buffer once. */
const readersPerTick = 16;
/** Tokens that come one by one are not counted. */
const largeRead = 16 * 1024;

/**
 * The system hands over up to two megabytes per socket and tick: two hundred large responses at once would block
 * everything else for seconds. Every response passes here, so nothing after it counts bytes again.
 */
export class ReadQuota {
  #spent = 0;
  #tick: NodeJS.Immediate | undefined;
  /** In the order they came. */
  readonly #waiting = new Set<Reader>();

  /** False: the reader pauses until `continueReading` is called. */
  take(bytes: number, reader: Reader): boolean {
    if (bytes < largeRead) return true;
    this.#spent += bytes;
    this.#tick ??= setImmediate(() => this.#next());
    if (this.#spent < tickBytes) return true;
    this.#waiting.add(reader);
    return false;
  }

  isWaiting(reader: Reader): boolean {
    return this.#waiting.has(reader);
  }

  leave(reader: Reader): void {
    this.#waiting.delete(reader);
  }

  #next(): void {
    this.#tick = undefined;
    this.#spent = 0;
    let resumed = 0;
    for (const reader of this.#waiting) {
      if (++resumed > readersPerTick) break;
      this.#waiting.delete(reader);
      reader.continueReading();
    }
    if (this.#waiting.size > 0) this.#tick ??= setImmediate(() => this.#next());
  }
}
