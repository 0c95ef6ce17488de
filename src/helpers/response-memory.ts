/** Memory for the bytes of one response, which others use after it. */
import { blockBytes, giveBack, takeBlock } from './spare-blocks.ts';

export class ResponseMemory {
  readonly #blocks: Buffer[] = [];
  /** Bytes used of the last block. */
  #used = blockBytes;
  #released = false;

  /** Valid until `release`. */
  copy(bytes: Buffer): Buffer {
    if (this.#released || bytes.length > blockBytes) return Buffer.from(bytes);
    if (this.#used + bytes.length > blockBytes) {
      this.#blocks.push(takeBlock());
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += bytes.length;
    const block = this.#blocks[this.#blocks.length - 1] as Buffer;
    block.set(bytes, from);
    return block.subarray(from, this.#used);
  }

  /** The response is sent, or nobody wants it any more. What is copied later gets memory of its own. */
  release(): void {
    this.#released = true;
    for (const block of this.#blocks.splice(0)) giveBack(block);
  }
}
