/** A raw HTTP/1.1 client connection that parses only status, end of response and number of SSE events. */
import net from 'node:net';

/** Follows one exchange. Times are `performance.now()`. */
export interface Listener {
  /** One read: how many bytes of it, and how many SSE events ended in it. Returning false stops reading until `resume`. */
  data(now: number, bytes: number, events: number): boolean;
  /** The bytes of a read, for listeners that need them. */
  text?(piece: string): void;
  end(now: number, status: number): void;
  fail(reason: string): void;
}

// One shared buffer: a read is consumed before the next one starts.
const buffer = Buffer.allocUnsafe(262_144);
const lineFeed = 10;
const carriageReturn = 13;
const headEnd = Buffer.from('\r\n\r\n');
const eventEnd = Buffer.from('\n\n');
/** The last chunk, trailers and an empty line; no more than `longestEnd`. */
const endOfChunks = /\r\n0\r\n(?:[^\r\n]+\r\n)*\r\n$/;
const longestEnd = 200;
const noContent = 204;
const untilClosed = -2;
const chunked = -1;

export class Connection {
  readonly #socket: net.Socket;
  #listener: Listener | undefined;
  #status = 0;
  /** Body bytes still to come, or how the end is known. */
  #remaining = 0;
  #partialHead = '';
  #tail = '';
  #loneLineFeed = false;
  #closed = false;

  constructor(port: number) {
    this.#socket = net.connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      onread: { buffer, callback: (length) => this.#read(length) },
    });
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message));
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('close', () => this.#fail('closed'));
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(request: Buffer, listener: Listener): void {
    this.#expect(listener);
    this.#socket.write(request);
  }

  /** Sends a large request with backpressure. */
  sendSlices(request: Buffer, sliceBytes: number, listener: Listener): void {
    this.#expect(listener);
    let offset = 0;
    const next = (): void => {
      if (this.#closed || offset >= request.length) return;
      const slice = request.subarray(offset, offset + sliceBytes);
      offset += sliceBytes;
      this.#socket.write(slice, next);
    };
    next();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Disconnects; the listener is not called again. */
  leave(how: 'close' | 'reset' = 'close'): void {
    this.#listener = undefined;
    this.#closed = true;
    if (how === 'reset') this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  #expect(listener: Listener): void {
    this.#listener = listener;
    this.#status = 0;
    this.#partialHead = '';
    this.#tail = '';
    this.#loneLineFeed = false;
  }

  #read(length: number): boolean {
    const listener = this.#listener;
    if (listener === undefined) return true;
    const now = performance.now();
    let start = 0;
    if (this.#status === 0) {
      start = this.#readHead(length);
      if (start < 0) return true;
    }
    listener.text?.(buffer.toString('latin1', start, length));
    const goOn = listener.data(now, length - start, this.#countEvents(start, length));
    if (this.#isOver(start, length)) {
      this.#listener = undefined;
      listener.end(now, this.#status);
    }
    return goOn;
  }

  /** Where the body starts in this read, or -1 when the head is not complete yet. */
  #readHead(length: number): number {
    const end = buffer.subarray(0, length).indexOf(headEnd);
    const text = this.#partialHead + buffer.toString('latin1', 0, end < 0 ? length : end + 4);
    if (end < 0) {
      this.#partialHead = text;
      return -1;
    }
    this.#status = Number(text.slice(9, 12));
    const declared = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    if (declared !== undefined) this.#remaining = Number(declared);
    else if (this.#status === noContent) this.#remaining = 0;
    else this.#remaining = /\r\ntransfer-encoding: *chunked/i.test(text) ? chunked : untilClosed;
    return end + 4;
  }

  #countEvents(start: number, length: number): number {
    const bytes = buffer.subarray(start, length);
    let count = this.#loneLineFeed && bytes[0] === lineFeed ? 1 : 0;
    for (let at = bytes.indexOf(eventEnd); at >= 0; at = bytes.indexOf(eventEnd, at + 2)) count += 1;
    const beforeLast = bytes[bytes.length - 2];
    this.#loneLineFeed =
      bytes[bytes.length - 1] === lineFeed && beforeLast !== lineFeed && beforeLast !== carriageReturn;
    return count;
  }

  #isOver(start: number, length: number): boolean {
    if (this.#remaining === untilClosed) return false;
    if (this.#remaining === chunked) {
      const text = this.#tail + buffer.toString('latin1', Math.max(start, length - longestEnd), length);
      this.#tail = text.slice(-longestEnd);
      return this.#tail.endsWith('\r\n\r\n') && endOfChunks.test(this.#tail);
    }
    this.#remaining -= length - start;
    return this.#remaining <= 0;
  }

  #ended(): void {
    const listener = this.#listener;
    if (this.#status === 0 || this.#remaining !== untilClosed || listener === undefined) return;
    this.#listener = undefined;
    listener.end(performance.now(), this.#status);
  }

  #fail(reason: string): void {
    this.#closed = true;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.fail(reason);
  }
}
