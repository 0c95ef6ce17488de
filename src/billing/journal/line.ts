/** Encodes and decodes journal lines: CRC-32 in hex, a space, JSON, a newline. */
import { crc32 } from 'node:zlib';

const checksumLength = 8;
const space = 0x20;
const newline = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const digits = Buffer.from('0123456789abcdef');

/** What has a JSON text in, its lines out, in a buffer that is used again: what it gives is good until the next call. */
export class LineEncoder {
  #buffer = Buffer.allocUnsafe(64 * 1024);

  encode<Entry>(entries: readonly Entry[], jsonOf: (entry: Entry) => string): Buffer {
    let position = 0;
    for (const entry of entries) {
      const json = jsonOf(entry);
      const start = position + checksumLength + 1;
      // A character takes at most three bytes.
      this.#ensure(start + json.length * 3 + 1);
      const end = start + this.#buffer.write(json, start);
      this.#writeChecksum(position, crc32(this.#buffer.subarray(start, end)));
      this.#buffer[start - 1] = space;
      this.#buffer[end] = newline;
      position = end + 1;
    }
    return this.#buffer.subarray(0, position);
  }

  #writeChecksum(position: number, checksum: number): void {
    let rest = checksum;
    for (let place = checksumLength - 1; place >= 0; place--) {
      this.#buffer[position + place] = digits[rest & 15] ?? 0;
      rest >>>= 4;
    }
  }

  #ensure(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(bytes * 2);
    this.#buffer.copy(larger);
    this.#buffer = larger;
  }
}

/** The JSON of each of the lines that were encoded together. */
export const jsonOfLines = (lines: Buffer): Buffer[] => {
  const texts: Buffer[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(newline, at);
    texts.push(lines.subarray(at + checksumLength + 1, end));
    at = end + 1;
  }
  return texts;
};

/** The JSON text of a line without its newline; undefined when the line is not whole. */
export const decodeLine = (line: Buffer): string | undefined => {
  if (line.length <= checksumLength + 1 || line[checksumLength] !== space) return undefined;
  const json = line.subarray(checksumLength + 1);
  const checksum = crc32(json).toString(16).padStart(checksumLength, '0');
  return checksum === line.toString('latin1', 0, checksumLength) ? json.toString() : undefined;
};

/**
 * Whether an interrupted write can have left these bytes at the end of a file: the first part of one line. What goes on
 * after the object's end, or has bytes that JSON has nowhere, was something else once.
 */
export const isTornLine = (bytes: Buffer): boolean => {
  const checksum = bytes.subarray(0, checksumLength);
  if (!checksum.every((byte) => digits.includes(byte))) return false;
  if (bytes.length > checksumLength && bytes[checksumLength] !== space) return false;
  let depth = 0;
  let quoted = false;
  for (let at = checksumLength + 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < space || (depth === 0 && at > checksumLength + 1)) return false;
    if (quoted) {
      if (byte === backslash) at++;
      else if (byte === quote) quoted = false;
    } else if (byte === quote) quoted = true;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (depth === 0) return false;
  }
  return depth > 0 || bytes.length <= checksumLength + 1;
};
