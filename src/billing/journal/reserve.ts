/** Reserves disk space for what must still be written when the disk is full. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export const createReserve = (folder: string, bytes: number) => {
  const path = join(folder, 'reserve');
  const release = (): void => rmSync(path, { force: true });
  return {
    release,
    /** Throws when there is not enough space, and leaves what there is. */
    take(): void {
      const piece = Buffer.alloc(64 * 1024);
      try {
        const file = openSync(path, 'w');
        try {
          let left = bytes;
          while (left > 0) left -= writeSync(file, piece, 0, Math.min(left, piece.length));
        } finally {
          closeSync(file);
        }
      } catch (error) {
        release();
        throw error;
      }
    },
  };
};
