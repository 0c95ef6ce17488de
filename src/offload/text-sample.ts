/** Watches the bytes of a text as they arrive: whether it is UTF-8, and the lines that tell any other encoding. */
import { isUtf8 } from 'node:buffer';
import { headLength, sniffMediaType } from '../media/media-type.ts';
import { declaredEncoding } from './declared-encoding.ts';

/** Control characters that no text has; a terminal's escape is one that some have. */
const odd = new Uint8Array(256);
for (let code = 0; code < 0x20; code++)
  odd[code] = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1b].includes(code) ? 0 : 1;

const newline = 0x0a;
const escapeByte = 0x1b;
/** Bytes that are kept to tell an encoding by: more change no result. */
const sampleLength = 16 * 1024;

/** What is known of the encoding without a look at the letters: its label, or what to look at. */
export type KnownEncoding = { readonly label: string } | { readonly sample: Buffer; readonly wide: boolean };

export class TextSample {
  #opening: Buffer = Buffer.alloc(0);
  #size = 0;
  #isUtf8 = true;
  /** The beginning of a character whose rest comes with the next bytes. */
  #cut: Buffer = Buffer.alloc(0);
  #hasZero = false;
  #hasOdd = false;
  #hasEscape = false;
  #isBlank = true;
  /** Lines that are not plain ASCII. */
  readonly #lines: Buffer[] = [];
  #kept = 0;
  /** The beginning of a line that has not ended yet. */
  #line: Buffer = Buffer.alloc(0);
  #isPlain = true;

  push(chunk: Buffer): void {
    if (this.#opening.length < sampleLength)
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, sampleLength - this.#opening.length)]);
    this.#size += chunk.length;
    this.#hasZero ||= chunk.includes(0);
    this.#hasOdd ||= hasOddBytes(chunk);
    this.#hasEscape ||= chunk.includes(escapeByte);
    this.#isBlank &&= chunk.every((byte) => byte <= 0x20);
    if (this.#isUtf8) this.#checkUtf8(chunk);
    this.#keepLines(chunk);
  }

  get size(): number {
    return this.#size;
  }

  /** Its first bytes, as many as tell a format. */
  get head(): Buffer {
    return this.#opening.subarray(0, headLength);
  }

  get isBlank(): boolean {
    return this.#isBlank;
  }

  starts(signature: string): boolean {
    return this.head.toString('latin1', 0, signature.length) === signature;
  }

  /** Undefined: no text. A byte order mark decides; else valid UTF-8 is UTF-8; else a declaration counts. */
  encoding(): KnownEncoding | undefined {
    // UTF-32, which nothing here reads, and nobody sends.
    if (this.starts('\xff\xfe\0\0')) return undefined;
    if (this.starts('\xff\xfe')) return { label: 'utf-16le' };
    if (this.starts('\xfe\xff')) return { label: 'utf-16be' };
    if (this.#hasZero)
      return sniffMediaType(this.head) === undefined ? { sample: this.#opening, wide: true } : undefined;
    const valid = this.#isUtf8 && this.#cut.length === 0;
    if (valid && !this.#hasEscape) return { label: 'utf-8' };
    if (!valid && this.#hasOdd) return undefined;
    const label = valid ? undefined : declaredEncoding(this.head);
    if (label !== undefined) return { label };
    this.#endLine(Buffer.alloc(0));
    return { sample: Buffer.concat(this.#lines), wide: false };
  }

  #checkUtf8(chunk: Buffer): void {
    const bytes = this.#cut.length === 0 ? chunk : Buffer.concat([this.#cut, chunk]);
    const end = wholeCharacters(bytes);
    this.#isUtf8 = isUtf8(bytes.subarray(0, end));
    this.#cut = Buffer.from(bytes.subarray(end));
  }

  /** A byte of 0x0a ends a line in every encoding that is told by its lines. */
  #keepLines(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length && this.#kept < sampleLength; at++) {
      const byte = chunk[at] ?? 0;
      if (byte > 0x7f || byte === escapeByte) this.#isPlain = false;
      else if (byte === newline) {
        this.#endLine(chunk.subarray(start, at + 1));
        start = at + 1;
      }
    }
    this.#line = joined(this.#line, chunk.subarray(start));
  }

  #endLine(rest: Buffer): void {
    if (!this.#isPlain) {
      const line = joined(this.#line, rest);
      this.#lines.push(line);
      this.#kept += line.length;
    }
    this.#line = Buffer.alloc(0);
    this.#isPlain = true;
  }
}

/** Control characters in what would be text of one byte a character. */
const hasOddBytes = (bytes: Buffer): boolean => {
  for (let at = 0; at < bytes.length; at++) if (odd[bytes[at] ?? 0] === 1) return true;
  return false;
};

/** A copy, of limited length. */
const joined = (line: Buffer, rest: Buffer): Buffer =>
  Buffer.concat([line, rest.subarray(0, Math.max(0, sampleLength - line.length))]);

/** Where the last character that is all there ends. */
export const wholeCharacters = (bytes: Buffer): number => {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
};
