/** Encodes and decodes journal lines: CRC-32 in hex, a space, JSON, a newline. */
import { crc32 } from 'node:zlib';

const checksumLength = 8;
const space = 0x20;
const newline = 0x0a;
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

/** The JSON text of a line without its newline; undefined when the line is not whole. */
export const decodeLine = (line: Buffer): string | undefined => {
  if (line.length <= checksumLength + 1 || line[checksumLength] !== space) return undefined;
  const json = line.subarray(checksumLength + 1);
  const checksum = crc32(json).toString(16).padStart(checksumLength, '0');
  return checksum === line.toString('latin1', 0, checksumLength) ? json.toString() : undefined;
};
