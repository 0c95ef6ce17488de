/** Keeps what cannot be read of journals: damaged lines for the operator, torn ones for the record. */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';

/** Bytes of a segment that are not a whole line. */
export interface Fragment {
  readonly segment: number;
  readonly offset: number;
  readonly bytes: Buffer;
}

/** A line of `damaged.log` or `torn.log`. */
interface Entry {
  readonly time: string;
  readonly journal: string;
  readonly segment: number;
  readonly offset: number;
  readonly bytes: number;
  /** What was there. */
  readonly base64: string;
}

export interface Damage {
  /** Lines that were acknowledged, or may have been: an operator decides what becomes of them. */
  damaged(folder: string, fragments: readonly Fragment[]): void;
  /** The start of a line whose write a crash interrupted: it was never acknowledged. */
  torn(folder: string, fragment: Fragment): void;
  stats(): DamageStats;
}

export interface DamageStats {
  readonly damaged: number;
  readonly torn: number;
}

const fileOf = (parent: string, kind: keyof DamageStats): string => join(parent, `${kind}.log`);

/** The files lie beside the journals and outlive them. */
export const openDamage = (parent: string, log: Logger): Damage => {
  const counts = { damaged: 0, torn: 0 };
  const keep = (kind: keyof DamageStats, folder: string, fragments: readonly Fragment[]): void => {
    const time = new Date().toISOString();
    const lines = fragments.map(({ segment, offset, bytes }) => {
      const journal = basename(folder);
      const entry: Entry = {
        time,
        journal,
        segment,
        offset,
        bytes: bytes.length,
        base64: bytes.toString('base64'),
      };
      return `${JSON.stringify(entry)}\n`;
    });
    appendFileSync(fileOf(parent, kind), lines.join(''), { mode: 0o600 });
    counts[kind] += fragments.length;
  };
  return {
    damaged: (folder, fragments) => {
      keep('damaged', folder, fragments);
      for (const { segment, offset, bytes } of fragments)
        log.error(
          { folder, segment, offset, bytes: bytes.length, file: fileOf(parent, 'damaged') },
          'journal line damaged and set aside',
        );
    },
    torn: (folder, fragment) => {
      keep('torn', folder, [fragment]);
      const { segment, offset, bytes } = fragment;
      log.warn({ folder, segment, offset, bytes: bytes.length }, 'torn last journal line removed');
    },
    stats: () => ({ ...counts }),
  };
};

/** Where entries lie and since when, without their bytes; a line that is no entry counts too. */
export const readDamage = (parent: string, kind: keyof DamageStats): readonly Omit<Entry, 'base64'>[] => {
  const lines = readIfThere(fileOf(parent, kind)).split('\n');
  return lines.filter((line) => line !== '').map(entryOf);
};

const entryOf = (line: string): Omit<Entry, 'base64'> => {
  try {
    const { time, journal, segment, offset, bytes } = JSON.parse(line) as Entry;
    return { time, journal, segment, offset, bytes };
  } catch {
    return { time: 'unknown', journal: 'unknown', segment: 0, offset: 0, bytes: Buffer.byteLength(line) };
  }
};

const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};
