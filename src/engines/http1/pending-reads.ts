/** Copies of borrowed buffers that wait for a slow reader. */
import { acquireBuffer, pooledBytes, releaseBuffer } from '../../helpers/buffer-pool.ts';
import { JoinedBytes } from '../../helpers/joined-bytes.ts';

/** Reads from this size on get pooled buffers. */
const large = 16 * 1024;
const pooled = new WeakSet<ArrayBufferLike>();

export class PendingReads {
  readonly #reads = new JoinedBytes();

  get bytes(): number {
    return this.#reads.length;
  }

  add(borrowed: Buffer): void {
    if (borrowed.length < large || borrowed.length > pooledBytes) this.#reads.add(borrowed);
    else {
      const buffer = acquireBuffer();
      pooled.add(buffer.buffer);
      this.#reads.append(buffer.subarray(0, borrowed.copy(buffer)));
    }
  }

  /** Lends the first, if any, to `take`. */
  pass(take: (bytes: Buffer) => void): void {
    const first = this.#reads.shift();
    if (first === undefined) return;
    take(first);
    release(first);
  }

  clear(): void {
    for (let read = this.#reads.shift(); read !== undefined; read = this.#reads.shift()) release(read);
  }

  text(mostBytes: number): string {
    const all = this.#reads.take();
    this.#reads.append(all);
    return all.toString('utf8', 0, mostBytes);
  }
}

const release = ({ buffer }: Buffer): void => {
  if (pooled.delete(buffer)) releaseBuffer(Buffer.from(buffer));
};
