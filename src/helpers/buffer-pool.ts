/** A pool of buffers: as garbage, large ones would make V8 collect its whole heap several times a second. */

export const pooledBytes = 64 * 1024;
const mostPooled = 256;
const pool: Buffer[] = [];

/** Its bytes are what its last user left. */
export const acquireBuffer = (): Buffer => pool.pop() ?? Buffer.allocUnsafeSlow(pooledBytes);

/** Nobody may hold a slice of it any more. */
export const releaseBuffer = (buffer: Buffer): void => {
  if (pool.length < mostPooled) pool.push(buffer);
};

/** Copies the bytes of one response into pooled buffers. */
export class PooledCopies {
  readonly #buffers: Buffer[] = [];
  /** Bytes used of the last buffer. */
  #used = pooledBytes;
  #released = false;

  /** Valid until `release`. */
  copy(bytes: Buffer): Buffer {
    if (this.#released || bytes.length > pooledBytes) return Buffer.from(bytes);
    if (this.#used + bytes.length > pooledBytes) {
      this.#buffers.push(acquireBuffer());
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += bytes.length;
    const buffer = this.#buffers[this.#buffers.length - 1] as Buffer;
    buffer.set(bytes, from);
    return buffer.subarray(from, this.#used);
  }

  /** The response is sent, or nobody wants it any more. What is copied later gets a buffer of its own. */
  release(): void {
    this.#released = true;
    for (const buffer of this.#buffers.splice(0)) releaseBuffer(buffer);
  }
}
