/** Parses one HTTP response incrementally, wherever its bytes are split. */
import { BodySegment, ChunkedBody } from './chunked-body.ts';
import { isHeader, ResponseHead } from './response-head.ts';

const START = 0;
const HEADERS = 1;
const LENGTH = 2;
const CHUNKED = 3;
const TRAILERS = 4;
const CLOSE = 5;
const COMPLETE = 6;

const LINE_FEED = 10;
const HEAD_END = Buffer.from('\r\n\r\n');
const RETURN = '\r';

/** Of a head with all the interim ones before it, and of trailers. */
const HEAD_LIMIT = 64 * 1024;
const LINE_LIMIT = 200;

export class ResponseParser {
  /** Present once it is whole. */
  head: ResponseHead | undefined;
  /** What the last read brought of the body; the next read overwrites it. */
  body: Buffer | undefined;
  /** Why this is no response; what came before the fault is still valid. */
  fault: string | undefined;
  /** Bytes came after the end. */
  excess = false;
  #state = START;
  #reading = new ResponseHead();
  readonly #chunks = new ChunkedBody();
  /** A line without its end so far. */
  #line = '';
  #headBytes = 0;
  #lines = 0;
  #remaining = 0;
  /** What this read brings of the body. */
  readonly #segment = new BodySegment();

  get complete(): boolean {
    return this.#state === COMPLETE;
  }

  reset(): void {
    this.head = undefined;
    this.body = undefined;
    this.fault = undefined;
    this.excess = false;
    this.#state = START;
    this.#reading = new ResponseHead();
    this.#line = '';
    this.#headBytes = 0;
    this.#lines = 0;
  }

  /** Not to be called again after a fault. */
  push(bytes: Buffer, length: number): void {
    let at = 0;
    while (at < length && this.fault === undefined && this.#state !== COMPLETE) {
      at = this.#step(bytes, at, length);
    }
    if (at < length && this.fault === undefined) this.excess = true;
    this.body = this.#segment.take(bytes);
  }

  /** The peer has closed: true when that completes the response. */
  close(): boolean {
    if (this.#state === CLOSE) this.#state = COMPLETE;
    return this.#state === COMPLETE;
  }

  #step(bytes: Buffer, at: number, length: number): number {
    switch (this.#state) {
      case LENGTH: {
        const end = Math.min(length, at + this.#remaining);
        this.#segment.add(bytes, at, end);
        this.#remaining -= end - at;
        if (this.#remaining === 0) this.#state = COMPLETE;
        return end;
      }
      case CHUNKED: {
        const end = this.#chunks.read(bytes, at, length, this.#segment);
        if (this.#chunks.broken) this.fault = 'a broken chunk';
        else if (this.#chunks.done) this.#startTrailers();
        return end;
      }
      case CLOSE:
        this.#segment.add(bytes, at, length);
        return length;
      case START:
        if (this.#line === '' && this.#lines === 0) return this.#readHead(bytes, at, length);
        return this.#readLine(bytes, at, length);
      default:
        return this.#readLine(bytes, at, length);
    }
  }

  /** A head within one read is parsed as one string; any other line by line. */
  #readHead(bytes: Buffer, at: number, length: number): number {
    const end = bytes.indexOf(HEAD_END, at);
    if (end < 0 || end + HEAD_END.length > length || end - at > HEAD_LIMIT / 2)
      return this.#readLine(bytes, at, length);
    const head = this.#reading;
    const fault = head.whole(bytes.toString('latin1', at, end + 2));
    if (fault !== undefined || head.count > LINE_LIMIT) {
      // Parsed again line by line to name the fault.
      this.#reading = new ResponseHead();
      return this.#readLine(bytes, at, length);
    }
    this.#headBytes += end + HEAD_END.length - at;
    this.#lines += head.count + 2;
    this.fault = this.#headBytes > HEAD_LIMIT ? 'too long a head' : this.#endHead();
    return end + HEAD_END.length;
  }

  #readLine(bytes: Buffer, at: number, length: number): number {
    let end = at;
    while (end < length && bytes[end] !== LINE_FEED) end++;
    this.#headBytes += end - at + (end < length ? 1 : 0);
    if (this.#headBytes > HEAD_LIMIT) {
      this.fault = 'too long a head';
      return end;
    }
    const text = bytes.toString('latin1', at, end);
    if (end === length) {
      this.#line += text;
      return end;
    }
    const line = this.#line === '' ? text : this.#line + text;
    this.#line = '';
    if (++this.#lines > LINE_LIMIT) this.fault = 'too long a head';
    else if (!line.endsWith(RETURN)) this.fault = 'a line without its end';
    else this.fault = this.#takeLine(line.slice(0, -1));
    return end + 1;
  }

  #takeLine(line: string): string | undefined {
    if (this.#state === START) {
      this.#state = HEADERS;
      return this.#reading.start(line);
    }
    if (line !== '') {
      if (this.#state === HEADERS) return this.#reading.header(line);
      return isHeader(line) ? undefined : 'a trailer that is none';
    }
    if (this.#state === TRAILERS) {
      this.#state = COMPLETE;
      return undefined;
    }
    return this.#endHead();
  }

  #endHead(): string | undefined {
    const head = this.#reading;
    const fault = head.end();
    if (fault !== undefined) return fault;
    if (head.status < 200) {
      this.#reading = new ResponseHead();
      this.#state = START;
      return undefined;
    }
    this.head = head;
    this.#remaining = head.contentLength ?? 0;
    const { framing } = head;
    if (framing === 'chunked') {
      this.#chunks.reset();
      this.#state = CHUNKED;
    } else if (framing === 'close') this.#state = CLOSE;
    else this.#state = framing === 'length' && this.#remaining > 0 ? LENGTH : COMPLETE;
    return undefined;
  }

  #startTrailers(): void {
    this.#state = TRAILERS;
    this.#headBytes = 0;
    this.#lines = 0;
  }
}
