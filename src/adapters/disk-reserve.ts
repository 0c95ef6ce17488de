/** Keeps a part of the data folder's disk free, so that usage can still be recorded when clients have filled the rest. */
import { statfs } from 'node:fs/promises';
import { fail } from '../errors.ts';

export interface DiskReserve {
  /** Before bytes of a client are written; rejects with `unavailable` where they would use up the reserve. */
  ensure(bytes: number): Promise<void>;
  stats(): DiskStats;
}

export interface DiskStats {
  /** When it was last looked at. */
  readonly freeBytes: number;
  readonly reservedBytes: number;
  readonly refused: number;
}

/** What is written between two looks at the disk is subtracted from what the last one found. */
const lookMs = 250;

export const openDiskReserve = async (folder: string, reservedBytes: number): Promise<DiskReserve> => {
  let freeBytes = Number.POSITIVE_INFINITY;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let refused = 0;
  const look = async (): Promise<void> => {
    lookedAt = performance.now();
    const { bavail, bsize } = await statfs(folder);
    freeBytes = bavail * bsize;
  };
  await look();
  return {
    ensure: async (bytes) => {
      if (performance.now() - lookedAt > lookMs) await look();
      freeBytes -= bytes;
      if (freeBytes >= reservedBytes) return;
      refused++;
      throw fail('unavailable', 'The disk of the service is full; retry later');
    },
    stats: () => ({ freeBytes: Math.max(0, freeBytes), reservedBytes, refused }),
  };
};
