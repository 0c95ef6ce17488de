/** Limits the bytes that all connections together read in one tick of the event loop. */

export interface Reader {
  /** Its turn has come: reads again, unless something else holds it. */
  goOn(): void;
}

/** What may be read in a turn: some milliseconds' worth. */
const turnBytes = 1024 * 1024;
/** Every reader that goes on may fill its memory once. */
const readersATurn = 16;
/** Tokens that come one by one are not counted. */
const largeRead = 16 * 1024;

/**
 * The system hands over up to two megabytes per socket and tick: two hundred large responses at once would block
 * everything else for seconds. Every response passes here, so nothing after it counts bytes again.
 */
export class ReadQuota {
  #spent = 0;
  #turn: NodeJS.Immediate | undefined;
  /** In the order they came. */
  readonly #waiting = new Set<Reader>();

  /** False: the reader stops and is told when to go on. */
  take(bytes: number, reader: Reader): boolean {
    if (bytes < largeRead) return true;
    this.#spent += bytes;
    this.#turn ??= setImmediate(() => this.#next());
    if (this.#spent < turnBytes) return true;
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
    this.#turn = undefined;
    this.#spent = 0;
    let going = 0;
    for (const reader of this.#waiting) {
      if (++going > readersATurn) break;
      this.#waiting.delete(reader);
      reader.goOn();
    }
    if (this.#waiting.size > 0) this.#turn ??= setImmediate(() => this.#next());
  }
}
