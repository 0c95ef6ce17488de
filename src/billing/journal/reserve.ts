/** Reserves disk space for what must still be written when the disk is full. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export class Reserve {
  readonly #path: string;
  readonly #bytes: number;

  constructor(folder: string, bytes: number) {
    this.#path = join(folder, 'reserve');
    this.#bytes = bytes;
  }

  /** Takes the room; throws when there is not enough, and leaves what there is. */
  take(): void {
    const piece = Buffer.alloc(64 * 1024);
    try {
      const file = openSync(this.#path, 'w');
      try {
        let left = this.#bytes;
        while (left > 0) left -= writeSync(file, piece, 0, Math.min(left, piece.length));
      } finally {
        closeSync(file);
      }
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  giveUp(): void {
    rmSync(this.#path, { force: true });
  }
}
