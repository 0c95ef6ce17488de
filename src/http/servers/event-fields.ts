/** Names of header lines that write server-sent events as complete chunks. */

/** Most events are shorter. */
const cachedSizes = 1024;

/** What the first line of an event begins with. */
class EventField {
  /** Bytes, with the ": ". */
  readonly length: number;
  readonly #start: Buffer;
  readonly #name: string;
  /** By size of the chunk. */
  readonly #headerNames: (Buffer | undefined)[] = new Array(cachedSizes).fill(undefined);

  constructor(name: string) {
    this.#name = name;
    this.#start = Buffer.from(`${name}: `);
    this.length = this.#start.length;
  }

  begins(bytes: Uint8Array): boolean {
    for (let at = 0; at < this.length; at++) if (bytes[at] !== this.#start[at]) return false;
    return true;
  }

  /** The size line, and the field up to its ": ", which the library writes. */
  headerName(size: number): Buffer {
    const cached = size < cachedSizes ? this.#headerNames[size] : undefined;
    if (cached !== undefined) return cached;
    const name = Buffer.from(`${size.toString(16)}\r\n${this.#name}`);
    if (size < cachedSizes) this.#headerNames[size] = name;
    return name;
  }
}

const data = new EventField('data');
const event = new EventField('event');
/** Of resumable streams. */
const id = new EventField('id');
/** Of comments. */
const nameless = new EventField('');

/** Undefined where the bytes begin otherwise. */
export const fieldOf = (bytes: Uint8Array): EventField | undefined => {
  if (data.begins(bytes)) return data;
  if (event.begins(bytes)) return event;
  if (id.begins(bytes)) return id;
  return nameless.begins(bytes) ? nameless : undefined;
};
