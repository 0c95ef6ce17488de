/** Copies of borrowed buffers that wait for a slow reader. */
import { JoinedBytes } from '../../helpers/joined-bytes.ts';

/** Reads from this size on get pooled memory: garbage of that size piles up. */
const large = 16 * 1024;
const memoryBytes = 64 * 1024;
const mostSpare = 64;
const spare: Buffer[] = [];
const pooled = new WeakSet<ArrayBufferLike>();

export class PendingReads {
  readonly #reads = new JoinedBytes();

  get bytes(): number {
    return this.#reads.length;
  }

  add(borrowed: Buffer): void {
    if (borrowed.length < large || borrowed.length > memoryBytes) this.#reads.add(borrowed);
    else {
      const memory = spare.pop() ?? newMemory();
      this.#reads.append(memory.subarray(0, borrowed.copy(memory)));
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

const newMemory = (): Buffer => {
  const memory = Buffer.allocUnsafeSlow(memoryBytes);
  pooled.add(memory.buffer);
  return memory;
};

const release = ({ buffer, length }: Buffer): void => {
  if (length >= large && spare.length < mostSpare && pooled.has(buffer)) spare.push(Buffer.from(buffer));
};
