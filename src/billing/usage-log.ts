/** The UsageLog of a running gateway: events go to a journal of this process and are shipped from there. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Events } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { listSegments, segmentBytes, start } from './journal/segments.ts';
import { JournalWriter, type SyncPolicy } from './journal/writer.ts';
import { type Shipper, startShipper } from './shipper.ts';

export interface UsageLogOptions {
  /** Folder of all journals; each process writes one of its own below it. */
  readonly folder: string;
  readonly events: Events;
  readonly sync: SyncPolicy;
  readonly maxBytes?: number;
  readonly log: Logger;
}

export interface JournaledUsage extends UsageLog {
  /** Ships everything written so far, left-over journals included; rejects when it cannot. */
  ship(): Promise<void>;
  lag(): number;
}

const ownerFile = 'owner';

export const openUsageLog = (options: UsageLogOptions): JournaledUsage => {
  const { folder, events, log } = options;
  mkdirSync(folder, { recursive: true });
  const orphans = abandonedJournals(folder).map((path) => adopt(path, events, log));
  const own = claimFolder(folder);
  const writer = new JournalWriter({
    folder: own,
    log,
    sync: options.sync,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  const shipper = startShipper({
    folder: own,
    events,
    log,
    end: () => writer.end,
    released: (bytes) => writer.released(bytes),
  });
  const shippers = [shipper, ...orphans];

  return {
    record: (event: UsageEvent): Observable<void> => writer.append(JSON.stringify(event)),
    ensureOpen: () => writer.ensureOpen(),
    ship: async () => {
      for (const each of shippers) await each.drain();
    },
    lag: () => shippers.reduce((sum, each) => sum + each.lag(), 0),
    close: async () => {
      writer.close();
      try {
        for (const each of shippers) await each.drain();
        rmSync(own, { recursive: true });
      } catch (error) {
        log.warn({ err: error }, 'usage that could not be shipped stays in the journal for the next start');
      }
      for (const each of shippers) await each.stop();
    },
  };
};

/** A folder of its own for this process, marked with its id so that another can tell when it is gone. */
const claimFolder = (parent: string): string => {
  const folder = join(parent, `${Date.now()}-${process.pid}`);
  mkdirSync(folder);
  writeFileSync(join(folder, ownerFile), String(process.pid));
  return folder;
};

/** Journals whose writer has died: theirs is shipped by the next process that starts. */
const abandonedJournals = (parent: string): readonly string[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name))
    .filter((folder) => !isAlive(ownerOf(folder)));

const ownerOf = (folder: string): number => {
  try {
    return Number(readFileSync(join(folder, ownerFile), 'utf8'));
  } catch {
    return 0; // died before it could sign: nothing was written yet
  }
};

const isAlive = (pid: number): boolean => {
  if (pid === 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Takes over an abandoned journal, ships it to its end and removes it. */
const adopt = (folder: string, events: Events, log: Logger): Shipper => {
  writeFileSync(join(folder, ownerFile), String(process.pid));
  const last = listSegments(folder).at(-1);
  const end = last === undefined ? start : { segment: last, offset: segmentBytes(folder, last) };
  log.info({ folder }, 'shipping the journal of a process that ended without doing so');
  return startShipper({ folder, events, log, end: () => end });
};
