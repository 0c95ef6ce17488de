/** Names of header lines that write server-sent events as complete chunks. */

/** Most events are shorter. */
const cachedSizes = 1024;

/** What the first line of an event begins with. */
class EventField {
  readonly start: Buffer;
  readonly #name: string;
  /** By size of the chunk. */
  readonly #headerNames: (Buffer | undefined)[] = new Array(cachedSizes).fill(undefined);

  constructor(name: string) {
    this.start = Buffer.from(`${name}: `);
    this.#name = name;
  }

  begins(bytes: Uint8Array): boolean {
    const { start } = this;
    for (let at = 0; at < start.length; at++) if (bytes[at] !== start[at]) return false;
    return true;
  }

  /** The size line, and the field up to its ": ", which the library writes. */
  headerName(size: number): Buffer {
    const cached = this.#headerNames[size];
    if (cached !== undefined) return cached;
    const name = Buffer.from(`${size.toString(16)}\r\n${this.#name}`);
    if (size < cachedSizes) this.#headerNames[size] = name;
    return name;
  }
}

/** A comment has no name. */
export const eventFields = [new EventField('data'), new EventField('event'), new EventField('')];
