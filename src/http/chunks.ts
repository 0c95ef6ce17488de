/** Writes the chunks of a stream to uWebSockets.js so that what a part says never waits for the next part. */
import type { HttpResponse } from 'uWebSockets.js';
import { pieceBytes } from './pieces.ts';

/*
 * The library sends the line end that closes a chunk with the next chunk (or at the end), and clients that read chunk
 * by chunk wait for it: they would see everything one part late. So each part is followed by a chunk that says nothing:
 * - of server-sent events, the first letter of the next event, which is that of the one before;
 * - of other bytes, the last few of the part.
 * Nothing is sent that would not be sent anyway. Its own framing the library does not allow: `writeHeader` would write
 * it, but does not report a full socket.
 */

/** Text as bytes: the library copies what it cannot send at once. */
const memory = Buffer.allocUnsafeSlow(3 * pieceBytes);

/** Whole samples of most formats. */
const tailBytes = 4;

const newline = Buffer.from('\n');
const [NEWLINE, COLON, SPACE] = Buffer.from('\n: ');
const [data, event] = ['data', 'event'].map((field) => ({
  letter: field.charCodeAt(0),
  length: field.length,
  bytes: Buffer.from(field.charAt(0)),
})) as [Field, Field];

/** What all events of a stream begin with. */
interface Field {
  readonly letter: number;
  readonly length: number;
  readonly bytes: Buffer;
}

export class Chunks {
  readonly #response: HttpResponse;
  readonly #isEvents: boolean;
  /** The field whose first letter was sent already. */
  #ahead: Field | undefined;

  constructor(response: HttpResponse, isEvents: boolean) {
    this.#response = response;
    this.#isEvents = isEvents;
  }

  /** False: the socket is full. `last`: what follows, if anything, follows at once. */
  write(part: string | Uint8Array, last: boolean): boolean {
    const bytes = typeof part === 'string' ? memory.subarray(0, memory.write(part)) : part;
    if (this.#isEvents) return this.#writeEvents(bytes, last);
    if (last || bytes.length <= tailBytes) return this.#response.write(bytes);
    const tail = bytes.length - tailBytes;
    this.#response.write(bytes.subarray(0, tail));
    return this.#response.write(bytes.subarray(tail));
  }

  #writeEvents(bytes: Uint8Array, last: boolean): boolean {
    const field = fieldOf(bytes);
    const ahead = this.#ahead;
    this.#ahead = undefined;
    // A comment, say: the letter becomes a line of its own, which is ignored.
    if (ahead !== undefined && ahead !== field) this.#response.write(newline);
    const rest = ahead !== undefined && ahead === field ? bytes.subarray(1) : bytes;
    const room = this.#response.write(rest);
    if (last || field === undefined || !endsEvent(bytes)) return room;
    this.#ahead = field;
    return this.#response.write(field.bytes);
  }
}

const fieldOf = (bytes: Uint8Array): Field | undefined => {
  const field = bytes[0] === data.letter ? data : event;
  return bytes[0] === field.letter && bytes[field.length] === COLON && bytes[field.length + 1] === SPACE
    ? field
    : undefined;
};

const endsEvent = (bytes: Uint8Array): boolean =>
  bytes[bytes.length - 1] === NEWLINE && bytes[bytes.length - 2] === NEWLINE;
