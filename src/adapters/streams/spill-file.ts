/** A file for what memory shall not hold: blocks of one size, reused when they are freed, gone with the process. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, unlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

export const blockBytes = 16 * 1024;

/** Where bytes are in the file. */
export interface Spilled {
  readonly blocks: readonly number[];
  readonly length: number;
}

export class SpillFile {
  readonly #folder: string;
  #file: Promise<FileHandle> | undefined;
  readonly #free: number[] = [];
  #blocks = 0;
  #used = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Bytes of blocks in use. */
  get bytes(): number {
    return this.#used * blockBytes;
  }

  async write(bytes: Uint8Array): Promise<Spilled> {
    const blocks: number[] = [];
    for (let at = 0; at < bytes.length; at += blockBytes) blocks.push(this.#take());
    const spilled = { blocks, length: bytes.length };
    try {
      const file = await this.#opened();
      for (const [index, block] of blocks.entries()) {
        const piece = bytes.subarray(index * blockBytes, (index + 1) * blockBytes);
        for (let done = 0; done < piece.length; )
          done += (await file.write(piece, done, piece.length - done, block * blockBytes + done))
            .bytesWritten;
      }
    } catch (error) {
      this.free(spilled);
      throw error;
    }
    return spilled;
  }

  async read({ blocks, length }: Spilled): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(length);
    const file = await this.#opened();
    for (const [index, block] of blocks.entries()) {
      const end = Math.min(length, (index + 1) * blockBytes);
      for (let at = index * blockBytes; at < end; ) {
        const { bytesRead } = await file.read(bytes, at, end - at, block * blockBytes + (at % blockBytes));
        if (bytesRead === 0) throw new Error('The file of stream logs is shorter than it was written');
        at += bytesRead;
      }
    }
    return bytes;
  }

  free({ blocks }: Spilled): void {
    this.#used -= blocks.length;
    this.#free.push(...blocks);
  }

  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    this.#file = undefined;
    await file?.close();
  }

  #take(): number {
    this.#used++;
    return this.#free.pop() ?? this.#blocks++;
  }

  /** Without a name as soon as it is open: whatever becomes of the process, nothing is left behind. */
  #opened(): Promise<FileHandle> {
    this.#file ??= this.#create().catch((error: unknown) => {
      this.#file = undefined;
      throw error;
    });
    return this.#file;
  }

  async #create(): Promise<FileHandle> {
    mkdirSync(this.#folder, { recursive: true });
    const name = join(this.#folder, `streams-${process.pid}-${randomBytes(6).toString('hex')}`);
    const file = await open(name, 'wx+', 0o600);
    unlinkSync(name);
    return file;
  }
}
