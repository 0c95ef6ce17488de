/**
 * Bytes in, the same bytes out in pieces a socket takes one after the other: what a server is given beyond what its
 * socket takes it keeps a copy of, and it says nothing of a reader's progress within it.
 */

export const pieceBytes = 64 * 1024;

export class Pieces {
  readonly #waiting: Buffer[] = [];

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  get bytes(): number {
    return this.#waiting.reduce((sum, piece) => sum + piece.length, 0);
  }

  add(bytes: string | Uint8Array): void {
    this.#waiting.push(typeof bytes === 'string' ? Buffer.from(bytes) : asBuffer(bytes));
  }

  putBack(bytes: Buffer): void {
    this.#waiting.unshift(bytes);
  }

  /** Writes until there is no room, which `write` tells by false; that piece is taken all the same. */
  send(write: (piece: Buffer) => boolean): boolean {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.length > pieceBytes) this.#waiting.unshift(next.subarray(pieceBytes));
      if (!write(next.subarray(0, pieceBytes))) return false;
    }
    return true;
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
