/** Frames server-sent events and splits packets with the chosen quirks. */
import type { Quirks } from './quirks.ts';

export class EventWriter {
  readonly #quirks: Quirks;
  readonly #blank: string;
  readonly #prefix: string;
  #events = 0;
  /** Bytes kept back so that a packet ends in the middle of something. */
  #kept: Buffer = Buffer.alloc(0);

  constructor(quirks: Quirks) {
    this.#quirks = quirks;
    this.#blank = quirks.has('crlf') ? '\r\n\r\n' : '\n\n';
    const comment = quirks.has('comments') ? `: simulated${this.#blank}` : '';
    this.#prefix = `${comment}data:${quirks.has('tight_data') ? '' : ' '}`;
  }

  /** One event around a payload that is JSON already. */
  event(payload: string): string {
    this.#events += 1;
    const event = `${this.#prefix}${payload}${this.#blank}`;
    const isBad = this.#events === 2 && this.#quirks.has('bad_event');
    return isBad ? `data: {"choices":[{"delta":${this.#blank}${event}` : event;
  }

  /** The event that ends a stream. */
  done(): string {
    const done = this.#quirks.has('no_done') ? '' : this.event('[DONE]');
    return this.#quirks.has('unterminated') ? done.trimEnd() : done;
  }

  packet(text: string): string | Buffer {
    return this.#quirks.has('split_utf8') ? this.#split(text) : text;
  }

  /** With what was kept back. */
  lastPacket(text: string): string | Buffer {
    return this.#quirks.has('split_utf8') ? Buffer.concat([this.#kept, Buffer.from(text)]) : text;
  }

  /** Cuts after the first byte of the last character that has several, or else a few bytes before the end. */
  #split(text: string): Buffer {
    const bytes = Buffer.concat([this.#kept, Buffer.from(text)]);
    const lead = bytes.findLastIndex((byte) => byte >= 0xc0);
    const end = lead === -1 ? Math.max(1, bytes.length - 5) : lead + 1;
    this.#kept = bytes.subarray(end);
    return bytes.subarray(0, end);
  }
}
