/** Collects a long JSON string, such as base64, piece by piece. */
import { isAscii } from 'node:buffer';
import type { Base64 } from '../../../ports/media.ts';
import { unreadable } from './json-picker.ts';

const quote = 0x22;
const backslash = 0x5c;
/** Shorter texts come out as strings. */
const long = 4096;
/** Capacity for a text of several pieces. Untouched pages take no memory. */
const usualRoom = 4 * 1024 * 1024;

/** Pieces are checked and copied as they arrive, so that no work piles up at the end. */
export class LongText {
  #bytes = Buffer.alloc(0);
  #length = 0;
  #isEscaped = false;

  /** Throws `engine_unreachable` for what can be no base64 and no address. */
  add(piece: Buffer): void {
    if (!isAscii(piece)) throw unreadable();
    this.#isEscaped ||= piece.includes(backslash);
    this.#makeRoom(piece.length);
    piece.copy(this.#bytes, this.#length);
    this.#length += piece.length;
  }

  /** Undefined for a null, a number or nothing. Ready for the next text afterwards. */
  end(): Base64 | undefined {
    const bytes = this.#bytes.subarray(0, this.#length);
    const isEscaped = this.#isEscaped;
    this.#bytes = Buffer.alloc(0);
    this.#length = 0;
    this.#isEscaped = false;
    if (bytes[0] !== quote || bytes.length <= 2) return undefined;
    if (isEscaped) return unescaped(bytes);
    const inner = bytes.subarray(1, -1);
    return inner.length < long ? inner.toString('latin1') : inner;
  }

  #makeRoom(more: number): void {
    const wanted = this.#length + more;
    if (wanted <= this.#bytes.length) return;
    const room = this.#length === 0 ? wanted : Math.max(wanted, 2 * this.#bytes.length, usualRoom);
    const grown = Buffer.allocUnsafeSlow(room);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Rare: slashes written as `\/`, or base64 broken into lines. */
const unescaped = (bytes: Buffer): Base64 => {
  const text = (JSON.parse(bytes.toString('latin1')) as string).replace(/\s+/g, '');
  return text.length < long ? text : Buffer.from(text, 'latin1');
};
