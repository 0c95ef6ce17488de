/**
 * Large reads of all connections in; who may read on in this turn of the event loop out. The system hands over as much
 * of a near engine's answer as there is, two megabytes a socket and turn: two hundred large answers at once would hold
 * everything else up for seconds. Every answer passes here, whatever becomes of it, so nothing behind it counts bytes again.
 */

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
