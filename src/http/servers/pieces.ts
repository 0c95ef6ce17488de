/** Splits bytes into pieces that a socket takes one after the other. */
/** A server copies what its socket does not take, and reports no progress within it: so it gets no more than this at once. */
export const pieceBytes = 64 * 1024;

/** Where text is encoded, a piece at a time: most is sent at once and needs no memory of its own. */
const memory = Buffer.allocUnsafeSlow(pieceBytes);
const encoder = new TextEncoder();

export class Pieces {
  readonly #waiting: (string | Buffer)[] = [];
  /** They are slices of what was added last, and not copies. */
  #borrowed = false;

  get empty(): boolean {
    return this.#waiting.length === 0;
  }

  get bytes(): number {
    return this.#waiting.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  }

  /** Borrows the bytes until `send` returns. */
  add(bytes: string | Uint8Array): void {
    if (!this.empty) this.#waiting.push(Buffer.from(bytes));
    else {
      this.#borrowed = true;
      this.#waiting.push(typeof bytes === 'string' ? bytes : asBuffer(bytes));
    }
  }

  /** The rest of a piece that was passed to `write`, before that returns. */
  putBack(bytes: Buffer): void {
    this.#waiting.unshift(bytes);
  }

  /** Passes borrowed pieces to `write` until it returns false, for no room; that piece is taken all the same. */
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

  /** What could not be sent is copied once. A slice of a text would also keep all of it in memory. */
  #settle(): void {
    if (!this.#borrowed) return;
    this.#borrowed = false;
    for (const [index, piece] of this.#waiting.entries()) this.#waiting[index] = Buffer.from(piece);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
