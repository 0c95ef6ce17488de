/** The UsageLog of a gateway: journals events, and ships them, also those of dead processes. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import type { Logger } from 'pino';
import { EMPTY, type Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { DeadProcess } from '../ports/allowances.ts';
import type { EventMessage, Events } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { eventJson } from './event-json.ts';
import { type ClaimedFolder, claimAbandoned, claimFolder } from './journal/claim.ts';
import { type DamageStats, openDamage, readDamage } from './journal/damage.ts';
import { deadProcess, markCutOff } from './journal/dead-process.ts';
import { Recent } from './journal/recent.ts';
import { listSegments, mendTail, segmentBytes, start } from './journal/segments.ts';
import { JournalWriter, type SyncPolicy } from './journal/writer.ts';
import { MessageOfEvent, messagesOfLines } from './messages.ts';
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
  /** Called when the journal of a dead process is shipped to its end; the journal stays until it resolves. */
  readonly died?: ((dead: DeadProcess) => Promise<void>) | undefined;
}

export interface JournaledUsage extends UsageLog {
  /** The name of this process's journal, unique among all processes. */
  readonly process: string;
  /** Kept in the journal, for whoever adopts it: `DeadProcess.cutOff`. */
  markCutOff(isCutOff: boolean): void;
  /** Ships everything written so far, left-over journals included; rejects when it cannot. */
  ship(): Promise<void>;
  /** Bytes that wait to be shipped. */
  lag(): number;
  /** Journal lines that this process could not read. */
  damage(): DamageStats;
}

interface Journal {
  readonly claimed: ClaimedFolder;
  readonly shipper: Shipper;
  /** Undefined for the journal of this process. */
  readonly report?: (() => Promise<void>) | undefined;
}

export const openUsageLog = (options: UsageLogOptions): JournaledUsage => {
  const { folder, events, log, adoptMs = 10_000 } = options;
  mkdirSync(folder, { recursive: true });
  const damage = openDamage(folder, log);
  const kept = readDamage(folder, 'damaged').length;
  if (kept > 0) log.error({ lines: kept }, 'damaged.log has usage that was never billed');
  const own = claimFolder(folder);
  const recent = new Recent<EventMessage>(() => shipper.hurry(), events.batch);
  const writer = new JournalWriter({
    folder: own.path,
    json: eventJson,
    written: (place, lines, written) => {
      const messages =
        events.takesBytes === true
          ? messagesOfLines(lines, written)
          : written.map((event) => new MessageOfEvent(event));
      recent.add(place, lines.length, messages);
    },
    log,
    damage,
    sync: options.sync,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  const shipper = startShipper({
    folder: own.path,
    events,
    log,
    damage,
    end: () => writer.end,
    recent,
    released: (bytes) => writer.released(bytes),
  });
  const journals = new Set<Journal>([{ claimed: own, shipper }]);
  const finishing = new WeakSet<Journal>();

  const adopt = (): void => {
    const held = new Set([...journals].map(({ claimed }) => claimed.path));
    for (const claimed of claimAbandoned(folder, held)) {
      try {
        const dead = options.died === undefined ? undefined : deadProcess(claimed.path);
        const emptied = (): void => finishAdopted(journal);
        const journal: Journal = {
          claimed,
          shipper: shipAbandoned({ folder: claimed.path, events, log, damage, emptied }),
          report: async () => dead && options.died?.(dead),
        };
        journals.add(journal);
      } catch (error) {
        // The next look tries again.
        claimed.lock.release();
        complain(error);
      }
    }
  };

  /** Called at each poll while it is empty: one attempt at a time, and a pause after one that failed. */
  const finishAdopted = (journal: Journal): void => {
    if (finishing.has(journal)) return;
    finishing.add(journal);
    finish(journal).catch((error: unknown) => {
      complain(error);
      setTimeout(() => finishing.delete(journal), adoptMs).unref();
    });
  };

  /** Shipped to its end: the folder goes while it is still locked, so that nobody takes it up again. */
  const finish = async (journal: Journal): Promise<void> => {
    await journal.report?.();
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
    process: basename(own.path),
    markCutOff: (isCutOff) => markCutOff(own.path, isCutOff),
    record: (event: UsageEvent): Observable<void> => {
      // Requests that are refused for want of room must not take what room is left.
      if (writer.short && event.outcome === 'failed') return EMPTY;
      return writer.append(event);
    },
    ensureOpen: () => writer.ensureOpen(),
    ship: async () => {
      for (const { shipper } of journals) await shipper.drain();
    },
    damage: () => damage.stats(),
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
          if (existsSync(journal.claimed.path))
            log.warn({ err: error }, 'usage shipping failed at shutdown; events stay in the journal');
          else log.error({ err: error }, 'journal removed: events that were not shipped are lost');
        }
      }
    },
  };
};

const shipAbandoned = (journal: Omit<Parameters<typeof startShipper>[0], 'end'>): Shipper => {
  const { folder, log, damage } = journal;
  const last = listSegments(folder).at(-1);
  if (last !== undefined) mendTail(folder, last, damage);
  const end = last === undefined ? start : { segment: last, offset: segmentBytes(folder, last) };
  log.info({ folder }, 'adopted the journal of a dead process');
  return startShipper({ ...journal, end: () => end });
};
