/** Decodes server-sent events incrementally; pure and synchronous. */
import { fail } from '../../../errors.ts';
import { JoinedBytes } from '../../../helpers/joined-bytes.ts';

/**
 * Gets an event's data as `text` from `start` to `end`: an event that came in one read is never copied out of it.
 * `event` is the event's name, empty when it has none.
 */
type SseSink = (text: string, start: number, end: number, event: string) => void;

const LINE_LIMIT = 4 * 1024 * 1024;
const LF = 10;
const CR = 13;
const SPACE = 32;

export class SseDecoder {
  readonly #sink: SseSink;
  /** Bytes after the last line end; none of them is a line end, so they are never searched again. */
  readonly #tail = new JoinedBytes();
  /** The last read ended with CR: an LF that follows belongs to it. */
  #skipLineFeed = false;
  #atStart = true;
  /** The current event: its data lines so far, as bytes (a string would keep the read that it was cut from), and its name. */
  #data: JoinedBytes | undefined;
  #event = '';

  constructor(sink: SseSink) {
    this.#sink = sink;
  }

  /** The bytes may be borrowed. Throws `engine_unreachable` when a line or event outgrows its bound. */
  push(bytes: Buffer): void {
    let read = bytes;
    if (read.length === 0) return;
    if (this.#skipLineFeed && read[0] === LF) read = read.subarray(1);
    this.#skipLineFeed = read[read.length - 1] === CR;
    const end = endOfLines(read);
    const begun = this.#tail.length > 0 && end > 0 ? this.#endLine(read, end) : 0;
    if (begun < end) this.#lines(read.toString('utf8', begun, end));
    if (end < read.length) this.#keepTail(read.subarray(end));
  }

  /** The stream is over: a last event counts even without its blank line. */
  end(): void {
    if (this.#tail.length > 0) this.#lines(`${this.#tail.take().toString('utf8')}\n`);
    this.#dispatch();
  }

  /** The line that was begun in earlier reads, and what of this one is read with it. */
  #endLine(read: Buffer, end: number): number {
    const feed = read.indexOf(LF) + 1;
    const until = feed === 0 ? end : feed;
    this.#tail.add(read.subarray(0, until));
    this.#lines(this.#tail.take().toString('utf8'));
    return until;
  }

  /** A copy: a few bytes must not keep a large read. */
  #keepTail(bytes: Buffer): void {
    this.#tail.add(bytes);
    if (this.#tail.length > LINE_LIMIT) throw tooLong();
  }

  /** Whole lines, each with its end. */
  #lines(lines: string): void {
    let text = lines;
    if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
    let position = 0;
    if (this.#atStart) {
      this.#atStart = false;
      if (text.charCodeAt(0) === 0xfeff) position = 1;
    }
    const length = text.length;
    while (position < length) {
      const end = text.indexOf('\n', position);
      if (end === position) {
        this.#dispatch();
      } else if (text.startsWith('data:', position)) {
        const start = text.charCodeAt(position + 5) === SPACE ? position + 6 : position + 5;
        if (this.#data === undefined && text.charCodeAt(end + 1) === LF) {
          if (start < end) this.#sink(text, start, end, this.#event);
          this.#event = '';
          position = end + 2;
          continue;
        }
        this.#addData(text.slice(start, end));
      } else {
        this.#otherField(text.slice(position, end));
      }
      position = end + 1;
    }
  }

  #addData(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#data === undefined) this.#data = new JoinedBytes();
    else this.#data.add(lineFeed);
    this.#data.add(bytes);
    if (this.#data.length > LINE_LIMIT) throw tooLong();
  }

  /** `event` names the event, `data` without a colon is an empty line of data; comments, ids and retry times are ignored. */
  #otherField(line: string): void {
    if (line === 'data') this.#addData('');
    else if (line.startsWith('event:')) this.#event = line.slice(line.charCodeAt(6) === SPACE ? 7 : 6);
  }

  #dispatch(): void {
    const data = this.#data?.take().toString('utf8') ?? '';
    const event = this.#event;
    this.#data = undefined;
    this.#event = '';
    if (data !== '') this.#sink(data, 0, data.length, event);
  }
}

const lineFeed = Buffer.from('\n');

/** Index after the last line end; 0 without one. Most reads end with one. */
const endOfLines = (bytes: Buffer): number =>
  bytes[bytes.length - 1] === LF ? bytes.length : Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;

const tooLong = () => fail('engine_unreachable', 'The engine sent an event that is too long');
