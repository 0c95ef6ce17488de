/** Writes the chunks of a stream to uWebSockets.js so that no part waits for the next one. */
import type { HttpResponse } from 'uWebSockets.js';
import { fieldOf } from './event-fields.ts';
import { pieceBytes } from './pieces.ts';

/*
 * `write` sends the line end that closes a chunk together with the next chunk, and clients that read chunk by chunk
 * wait for it: they would see everything one part late. `writeHeader` writes `name: value` and a line end wherever the
 * response is. So the end of the head, every event and the end of the stream are written as header lines, and each
 * chunk is complete:
 *
 *   transfer-encoding: chunked ↵ date: … ↵ ↵
 *   1c ↵ data: {"text":"hello"}\n\n ↵
 *   0 ↵ x-complete: true ↵ Date: … ↵ ↵        `endWithoutBody` adds what the library adds to every head, as trailers
 *
 * But `writeHeader` does not report a full socket. So a long stream goes on with `write`, now and then: it needs an
 * open chunk to close, which a comment leaves, as the line end behind it is data (`4 ↵ : ↵`). The first `write` adds
 * the library's headers; they are part of the comment's chunk, where clients ignore them as unknown fields.
 *
 * Other bytes have no ": ", and clients take few chunk extensions. They are written by `write`, the last few of each
 * part as a chunk of their own: only these wait.
 */

/** Bytes of events that may be written before there is a check for room. */
const maxUnchecked = 64 * 1024;
/** Whole samples of most formats. */
const tailBytes = 4;

/** Where text is encoded: the library copies what it cannot send at once. */
const memory = Buffer.allocUnsafeSlow(3 * pieceBytes);
const NEWLINE = 10;

const transferEncoding = Buffer.from('transfer-encoding');
const lastChunk = Buffer.from('0\r\nx-complete');
const isTrue = Buffer.from('true');
/** The same with the line end that ends the response. */
const isTrueAndEnd = Buffer.from('true\r\n');
/** Behind a chunk that is not complete. */
const closeAndLastChunk = Buffer.from('\r\n0\r\nx-complete');
const nothing = Buffer.alloc(0);
const newline = Buffer.from('\n');
const commentSize = 4;
/** What the library writes before the first chunk of its own. */
const ownHeaders = 'Date: Mon, 16 Nov 2026 05:03:22 GMT\r\nTransfer-Encoding: chunked\r\n';
const [comment, firstComment] = [commentSize, commentSize + ownHeaders.length].map((size) =>
  Buffer.from(`${size.toString(16)}\r\n`),
) as [Buffer, Buffer];
/** Closes a chunk and writes one of a newline, with the ": " in a chunk extension. */
const newlineName = Buffer.from('\r\n1;x="');
const newlineValue = Buffer.from('"\r\n\n');

export class Chunks {
  readonly #response: HttpResponse;
  readonly #isEvents: boolean;
  /** Of what is sent: no body yet; complete chunks; complete chunks, some of the library's; one that is not complete. */
  #state: 'head' | 'lines' | 'closed' | 'open' = 'head';
  #unchecked = 0;

  constructor(response: HttpResponse, isEvents: boolean) {
    this.#response = response;
    this.#isEvents = isEvents;
  }

  /** False: the socket is full. `last`: nothing has to be complete before the end. */
  write(part: string | Uint8Array, last: boolean): boolean {
    const size = typeof part === 'string' ? memory.write(part) : part.length;
    const bytes = typeof part === 'string' ? memory : part;
    if (this.#isEvents) return this.#writeEvents(bytes, size, last);
    this.#state = 'open';
    const tail = last ? 0 : size - tailBytes;
    if (tail > 0) this.#response.write(bytes.subarray(0, tail));
    return this.#response.write(bytes.subarray(Math.max(tail, 0), size));
  }

  #writeEvents(bytes: Uint8Array, size: number, last: boolean): boolean {
    const isWhole = size > 2 && bytes[size - 1] === NEWLINE && bytes[size - 2] === NEWLINE;
    this.#unchecked += size;
    const field = isWhole && this.#unchecked <= maxUnchecked ? fieldOf(bytes) : undefined;
    if (field !== undefined && this.#byLines(last)) {
      if (this.#state === 'head') this.#endHead();
      this.#response.writeHeader(field.headerName(size), bytes.subarray(field.length, size));
      return true;
    }
    this.#openChunk();
    this.#unchecked = 0;
    if (!isWhole || last) return this.#response.write(bytes.subarray(0, size));
    // Two chunks: the second one closes the first, and itself.
    const room = this.#response.write(bytes.subarray(0, size - 1));
    this.#response.writeHeader(newlineName, newlineValue);
    this.#state = 'closed';
    return room;
  }

  /** Once the library has written a chunk, it has to write the end. */
  #byLines(last: boolean): boolean {
    return this.#state === 'head' || this.#state === 'lines' || (this.#state === 'closed' && !last);
  }

  #endHead(): void {
    this.#response.writeHeader(transferEncoding, headEnd());
    this.#state = 'lines';
  }

  /** So that `write` or `end` can close it. The newline ends the comment: not every client takes one within an event. */
  #openChunk(): void {
    if (this.#state === 'lines') this.#response.writeHeader(firstComment, nothing);
    if (this.#state === 'closed') this.#response.writeHeader(comment, nothing);
    if (this.#state === 'lines' || this.#state === 'closed') this.#response.write(newline);
    this.#state = 'open';
  }

  /** The socket was full: the next event is written with a check. */
  recheck(): void {
    this.#unchecked = maxUnchecked;
  }

  end(): void {
    if (this.#state === 'lines') {
      this.#response.writeHeader(lastChunk, isTrue);
      this.#response.endWithoutBody();
    } else {
      if (this.#state === 'closed') this.#openChunk();
      // Without `closeConnection`: the library would write that header into the stream.
      this.#response.end();
    }
  }

  /** The end for the client, while the library still waits for one. */
  endForClient(): void {
    if (this.#state === 'head') this.#endHead();
    this.#response.writeHeader(this.#state === 'open' ? closeAndLastChunk : lastChunk, isTrueAndEnd);
  }
}

let second = 0;
let lines = nothing;

/** Rebuilt once a second, for the date. */
const headEnd = (): Buffer => {
  const now = Math.floor(Date.now() / 1000);
  if (now !== second) {
    second = now;
    lines = Buffer.from(`chunked\r\ndate: ${new Date(now * 1000).toUTCString()}\r\n`);
  }
  return lines;
};
