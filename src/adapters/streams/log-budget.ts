/** What the logs of a process may take together, and one subscription of it. */
import { blockBytes, type SpillFile } from './spill-file.ts';

export interface LogLimits {
  /** Bytes of one log: half of it for what was read already, half for what nobody has read yet. */
  readonly streamBytes: number;
  /** Bytes of all logs, in memory and on disk. */
  readonly allBytes: number;
  /** Bytes in memory beyond which logs are written to disk; at twice as many, their sources wait for that. */
  readonly memoryBytes: number;
  /** Bytes that one log has in memory before it is written to disk. */
  readonly spillBytes: number;
}

/** Memory of more bytes is not kept for another log. */
const largestSpare = 256 * 1024;

/** What a log takes beside its text, about. */
export const logOverhead = 4096;

export class LogBudget {
  readonly limits: LogLimits;
  readonly file: SpillFile;
  readonly #bySubscription = new Map<string, number>();
  /** Memory to be used again, by its size: allocating as much as streams need would keep the garbage collector busy. */
  readonly #spare = new Map<number, Buffer[]>();
  #spareBytes = 0;
  memory = 0;
  /** The disk took the last segment that was to be written. */
  spills = true;

  constructor(limits: LogLimits, file: SpillFile) {
    this.limits = limits;
    this.file = file;
  }

  /** Takes bytes of memory or, with a negative number, returns them. */
  use(subscription: string, memory: number): void {
    this.memory += memory;
    this.keep(subscription, memory);
  }

  /** Memory for so many bytes, at least. */
  take(subscription: string, bytes: number): Buffer {
    const size = sizeFor(bytes);
    const spare = this.#spare.get(size)?.pop();
    if (spare !== undefined) this.#spareBytes -= size;
    this.use(subscription, size);
    return spare ?? Buffer.allocUnsafeSlow(size);
  }

  /** Of `take`. */
  release(subscription: string, memory: Buffer): void {
    const size = memory.length;
    this.use(subscription, -size);
    if (size > largestSpare || this.memory + this.#spareBytes + size > this.limits.memoryBytes) return;
    const spare = this.#spare.get(size) ?? [];
    spare.push(memory);
    this.#spare.set(size, spare);
    this.#spareBytes += size;
  }

  /** Bytes of a subscription, wherever they are. */
  keep(subscription: string, bytes: number): void {
    const sum = (this.#bySubscription.get(subscription) ?? 0) + bytes;
    if (sum === 0) this.#bySubscription.delete(subscription);
    else this.#bySubscription.set(subscription, sum);
  }

  /** Memory is short: logs are written to disk early. */
  get isTight(): boolean {
    return this.memory > this.limits.memoryBytes;
  }

  /** It has to be returned before logs grow. */
  get isShort(): boolean {
    return this.memory > 2 * this.limits.memoryBytes;
  }

  /** There is no room: what was read is cut, and sources wait until the rest is read. */
  isFull(subscription: string): boolean {
    const { allBytes } = this.limits;
    return (
      (this.isShort && !this.spills) ||
      this.memory + this.file.bytes > allBytes ||
      (this.#bySubscription.get(subscription) ?? 0) > allBytes / 4
    );
  }
}

/** A block, or twice as much as often as it takes: few sizes are used again soon. */
const sizeFor = (bytes: number): number => {
  if (bytes > largestSpare) return bytes;
  return bytes > blockBytes ? 2 ** Math.ceil(Math.log2(bytes)) : blockBytes;
};
