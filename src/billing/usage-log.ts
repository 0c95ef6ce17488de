/** The UsageLog of a running gateway: events go to a journal of this process and are shipped from there. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Events } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { type FolderLock, lockFolder } from './journal/folder-lock.ts';
import { listSegments, mendTail, segmentBytes, start } from './journal/segments.ts';
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

interface ClaimedFolder {
  readonly path: string;
  readonly lock: FolderLock;
}

export const openUsageLog = (options: UsageLogOptions): JournaledUsage => {
  const { folder, events, log } = options;
  mkdirSync(folder, { recursive: true });
  const abandoned = claimAbandoned(folder);
  const own = claimFolder(folder);
  const writer = new JournalWriter({
    folder: own.path,
    log,
    sync: options.sync,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  const shipper = startShipper({
    folder: own.path,
    events,
    log,
    end: () => writer.end,
    released: (bytes) => writer.released(bytes),
  });
  const journals = [
    { claimed: own, shipper },
    ...abandoned.map((claimed) => ({ claimed, shipper: shipAbandoned(claimed, events, log) })),
  ];

  return {
    record: (event: UsageEvent): Observable<void> => writer.append(JSON.stringify(event)),
    ensureOpen: () => writer.ensureOpen(),
    ship: async () => {
      for (const journal of journals) await journal.shipper.drain();
    },
    lag: () => journals.reduce((sum, journal) => sum + journal.shipper.lag(), 0),
    close: async () => {
      writer.close();
      for (const { claimed, shipper } of journals) {
        try {
          await shipper.drain();
          await shipper.stop();
          claimed.lock.release();
          rmSync(claimed.path, { recursive: true });
        } catch (error) {
          await shipper.stop();
          claimed.lock.release();
          log.warn({ err: error }, 'usage that could not be shipped stays in the journal for the next start');
        }
      }
    },
  };
};

/** A folder of its own for this process; it gets its name once it is locked, so that nobody takes it for abandoned. */
const claimFolder = (parent: string): ClaimedFolder => {
  const name = `${Date.now()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const unnamed = join(parent, `.${name}`);
  mkdirSync(unnamed);
  const lock = lockFolder(unnamed);
  if (lock === undefined) throw new Error(`Another process uses the new journal folder ${unnamed}.`);
  const path = join(parent, name);
  renameSync(unnamed, path);
  return { path, lock };
};

/** Journals whose writer has died: the next process that starts takes them over. */
const claimAbandoned = (parent: string): readonly ClaimedFolder[] =>
  readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap((entry) => {
      const path = join(parent, entry.name);
      const lock = lockFolder(path);
      return lock === undefined ? [] : [{ path, lock }];
    });

const shipAbandoned = ({ path }: ClaimedFolder, events: Events, log: Logger): Shipper => {
  const last = listSegments(path).at(-1);
  if (last !== undefined) mendTail(path, last);
  const end = last === undefined ? start : { segment: last, offset: segmentBytes(path, last) };
  log.info({ folder: path }, 'shipping the journal of a process that ended without doing so');
  return startShipper({ folder: path, events, log, end: () => end });
};
