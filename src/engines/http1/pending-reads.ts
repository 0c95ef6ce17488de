/** Copies of borrowed buffers that wait for a slow reader. */
import { JoinedBytes } from '../../helpers/joined-bytes.ts';
import { blockBytes, giveBack, takeBlock } from '../../helpers/spare-blocks.ts';

/** Reads from this size on get blocks that are used again. */
const large = 16 * 1024;
const blocks = new WeakSet<ArrayBufferLike>();

export class PendingReads {
  readonly #reads = new JoinedBytes();

  get bytes(): number {
    return this.#reads.length;
  }

  add(borrowed: Buffer): void {
    if (borrowed.length < large || borrowed.length > blockBytes) this.#reads.add(borrowed);
    else {
      const block = takeBlock();
      blocks.add(block.buffer);
      this.#reads.append(block.subarray(0, borrowed.copy(block)));
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
  if (blocks.delete(buffer)) giveBack(Buffer.from(buffer));
};
