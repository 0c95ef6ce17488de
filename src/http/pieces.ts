/**
 * Bytes in, the same bytes out in pieces a socket takes one after the other: what a server is given beyond what its
 * socket takes it keeps a copy of, and it says nothing of a reader's progress within it.
 */

export const pieceBytes = 64 * 1024;

/** Where texts become bytes, a piece at a time: most go on at once, and need no memory of their own. */
const memory = Buffer.allocUnsafeSlow(pieceBytes);
const encoder = new TextEncoder();

export class Pieces {
  readonly #waiting: (string | Buffer)[] = [];

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  get bytes(): number {
    return this.#waiting.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  }

  add(bytes: string | Uint8Array): void {
    this.#waiting.push(typeof bytes === 'string' ? bytes : asBuffer(bytes));
  }

  /** Of a piece that was lent. */
  putBack(bytes: Buffer): void {
    this.#waiting.unshift(Buffer.from(bytes));
  }

  /** Lends pieces until there is no room, which `write` tells by false; that piece is taken all the same. */
  send(write: (piece: Buffer) => boolean): boolean {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const room = write(typeof next === 'string' ? this.#encoded(next) : this.#cut(next));
      if (room) continue;
      this.#settle();
      return false;
    }
    return true;
  }

  #encoded(text: string): Buffer {
    const { read, written } = encoder.encodeInto(text, memory);
    if (read < text.length) this.#waiting.unshift(text.slice(read));
    return memory.subarray(0, written);
  }

  #cut(bytes: Buffer): Buffer {
    if (bytes.length > pieceBytes) this.#waiting.unshift(bytes.subarray(pieceBytes));
    return bytes.subarray(0, pieceBytes);
  }

  /** The end of a text would keep all of it in memory. */
  #settle(): void {
    for (const [index, piece] of this.#waiting.entries())
      if (typeof piece === 'string') this.#waiting[index] = Buffer.from(piece);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
