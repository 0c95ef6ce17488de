/** Copies of borrowed buffers that wait for a slow reader. */

/** Up from this size a read gets memory of this module's own, which is used again: garbage of that size piles up. */
const large = 16 * 1024;
const memoryBytes = 64 * 1024;
const mostSpare = 64;
const spare: Buffer[] = [];

export class PendingReads {
  bytes = 0;
  readonly #reads: Buffer[] = [];

  add(lent: Buffer): void {
    this.#reads.push(copied(lent));
    this.bytes += lent.length;
  }

  /** The first of them, if any, is lent to `take`. */
  pass(take: (bytes: Buffer) => void): void {
    const first = this.#reads.shift();
    if (first === undefined) return;
    this.bytes -= first.length;
    take(first);
    giveBack(first);
  }

  clear(): void {
    for (const read of this.#reads.splice(0)) giveBack(read);
    this.bytes = 0;
  }

  text(mostBytes: number): string {
    return Buffer.concat(this.#reads).toString('utf8', 0, mostBytes);
  }
}

const copied = (lent: Buffer): Buffer => {
  if (lent.length < large || lent.length > memoryBytes) return Buffer.from(lent);
  const memory = spare.pop() ?? Buffer.allocUnsafeSlow(memoryBytes);
  return memory.subarray(0, lent.copy(memory));
};

const giveBack = ({ buffer, length }: Buffer): void => {
  if (length >= large && buffer.byteLength === memoryBytes && spare.length < mostSpare)
    spare.push(Buffer.from(buffer));
};
