/** Copies of borrowed buffers that wait for a slow reader. */

/** Reads from this size on get pooled memory: garbage of that size piles up. */
const large = 16 * 1024;
const memoryBytes = 64 * 1024;
const mostSpare = 64;
const spare: Buffer[] = [];

export class PendingReads {
  bytes = 0;
  readonly #reads: Buffer[] = [];

  add(borrowed: Buffer): void {
    this.#reads.push(copied(borrowed));
    this.bytes += borrowed.length;
  }

  /** Lends the first, if any, to `take`. */
  pass(take: (bytes: Buffer) => void): void {
    const first = this.#reads.shift();
    if (first === undefined) return;
    this.bytes -= first.length;
    take(first);
    release(first);
  }

  clear(): void {
    for (const read of this.#reads.splice(0)) release(read);
    this.bytes = 0;
  }

  text(mostBytes: number): string {
    return Buffer.concat(this.#reads).toString('utf8', 0, mostBytes);
  }
}

const copied = (borrowed: Buffer): Buffer => {
  if (borrowed.length < large || borrowed.length > memoryBytes) return Buffer.from(borrowed);
  const memory = spare.pop() ?? Buffer.allocUnsafeSlow(memoryBytes);
  return memory.subarray(0, borrowed.copy(memory));
};

const release = ({ buffer, length }: Buffer): void => {
  if (length >= large && buffer.byteLength === memoryBytes && spare.length < mostSpare)
    spare.push(Buffer.from(buffer));
};
