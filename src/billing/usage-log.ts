/** The UsageLog of a gateway: journals events, and ships them, also those of dead processes. */
import { mkdirSync, rmSync } from 'node:fs';
import type { Logger } from 'pino';
import { EMPTY, type Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Events } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { eventJson } from './event-json.ts';
import { type ClaimedFolder, claimAbandoned, claimFolder } from './journal/claim.ts';
import { Recent } from './journal/recent.ts';
import { listSegments, mendTail, segmentBytes, start } from './journal/segments.ts';
import { JournalWriter, type SyncPolicy } from './journal/writer.ts';
import { type Shipper, startShipper } from './shipper.ts';

interface UsageLogOptions {
  /** Folder of all journals; each process writes one of its own below it. */
  readonly folder: string;
  readonly events: Events;
  readonly sync: SyncPolicy;
  readonly maxBytes?: number;
  readonly log: Logger;
  /** Milliseconds between looks for journals whose process has died. */
  readonly adoptMs?: number;
}

export interface JournaledUsage extends UsageLog {
  /** Ships everything written so far, left-over journals included; rejects when it cannot. */
  ship(): Promise<void>;
  /** Bytes that wait to be shipped. */
  lag(): number;
}

interface Journal {
  readonly claimed: ClaimedFolder;
  readonly shipper: Shipper;
}

export const openUsageLog = (options: UsageLogOptions): JournaledUsage => {
  const { folder, events, log, adoptMs = 10_000 } = options;
  mkdirSync(folder, { recursive: true });
  const own = claimFolder(folder);
  const recent = new Recent<UsageEvent>(() => shipper.hurry());
  const writer = new JournalWriter({
    folder: own.path,
    json: eventJson,
    recent,
    log,
    sync: options.sync,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  const shipper = startShipper({
    folder: own.path,
    events,
    log,
    end: () => writer.end,
    recent,
    released: (bytes) => writer.released(bytes),
  });
  const journals = new Set<Journal>([{ claimed: own, shipper }]);

  const adopt = (): void => {
    const held = new Set([...journals].map(({ claimed }) => claimed.path));
    for (const claimed of claimAbandoned(folder, held)) {
      const journal: Journal = {
        claimed,
        shipper: shipAbandoned(claimed, events, log, () => finish(journal).catch(complain)),
      };
      journals.add(journal);
    }
  };

  /** Shipped to its end: the folder goes while it is still locked, so that nobody takes it up again. */
  const finish = async (journal: Journal): Promise<void> => {
    if (!journals.delete(journal)) return;
    await journal.shipper.stop();
    rmSync(journal.claimed.path, { recursive: true });
    journal.claimed.lock.release();
  };

  const complain = (error: unknown): void => log.warn({ err: error }, 'journal adoption failed');

  adopt();
  const adopting = setInterval(() => {
    try {
      adopt();
    } catch (error) {
      complain(error);
    }
  }, adoptMs).unref();

  return {
    record: (event: UsageEvent): Observable<void> => {
      // Requests that are refused for want of room must not take what room is left.
      if (writer.short && event.outcome === 'failed') return EMPTY;
      return writer.append(event);
    },
    ensureOpen: () => writer.ensureOpen(),
    ship: async () => {
      for (const { shipper } of journals) await shipper.drain();
    },
    lag: () => [...journals].reduce((sum, { shipper }) => sum + shipper.lag(), 0),
    close: async () => {
      clearInterval(adopting);
      writer.close();
      for (const journal of journals) {
        try {
          await journal.shipper.drain();
          await finish(journal);
        } catch (error) {
          await journal.shipper.stop();
          journal.claimed.lock.release();
          log.warn({ err: error }, 'usage shipping failed at shutdown; events stay in the journal');
        }
      }
    },
  };
};

const shipAbandoned = (
  { path }: ClaimedFolder,
  events: Events,
  log: Logger,
  emptied: () => void,
): Shipper => {
  const last = listSegments(path).at(-1);
  if (last !== undefined) mendTail(path, last, log);
  const end = last === undefined ? start : { segment: last, offset: segmentBytes(path, last) };
  log.info({ folder: path }, 'adopted the journal of a dead process');
  return startShipper({ folder: path, events, log, end: () => end, emptied });
};
