/** Compares journals, Kafka and the ledger; reports what is missing or differs. */
import { readFileSync } from 'node:fs';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { Ledger } from '../ports/ledger.ts';
import { journalFolders } from './journal/claim.ts';
import { readCursor } from './journal/cursor.ts';
import { readDamage } from './journal/damage.ts';
import { readBatch } from './journal/reader.ts';
import { type Cursor, isBefore, listSegments, segmentPath, start } from './journal/segments.ts';

export interface Report {
  readonly journal: {
    /** Events on their way, and shipped but still on disk. */
    readonly waiting: number;
    readonly shipped: number;
    /** Lines that do not read and have not been set aside yet. */
    readonly damaged: number;
    /** Lines in `damaged.log`: usage that was recorded and not billed, until an operator has dealt with it. */
    readonly set_aside: readonly string[];
    /** Lines in `torn.log`: crashes interrupted their writes, so they were never acknowledged. No difference. */
    readonly torn: number;
  };
  readonly kafka?: {
    readonly messages: number;
    /** Ids that came more than once; each counts once. */
    readonly repeated: number;
    /** Not yet taken by the reader: on their way. */
    readonly waiting: number;
    readonly deadLetters: number;
    /** Shipped by a journal, and not there. */
    readonly missing: readonly string[];
  };
  readonly ledger: {
    /** Of the events that were to be there, how many are. */
    readonly found: number;
    readonly missing: readonly string[];
    readonly duplicated: readonly string[];
    /** There, with another amount. */
    readonly altered: readonly string[];
  };
}

export type AuditKafka = (
  look: (messages: readonly { readonly value: Uint8Array; readonly consumed: boolean }[]) => Promise<void>,
) => Promise<{ messages: number; waiting: number; deadLetters: number }>;

type Expected = Pick<UsageEvent, 'id' | 'time' | 'subscription' | 'cost'>;

interface VerifyOptions {
  /** Folder of all journals, where there is one on this machine. */
  readonly journals: string | undefined;
  readonly ledger: Pick<Ledger, 'find'>;
  readonly kafka?: AuditKafka | undefined;
  /** The ledger keeps nothing older: Unix milliseconds. */
  readonly since?: number;
}

export const verifyUsage = async ({ journals, ledger, kafka, since = 0 }: VerifyOptions): Promise<Report> => {
  const { shipped, ...others } = readJournals(journals);
  const journal = {
    ...others,
    shipped: shipped.length,
    set_aside: journals === undefined ? [] : readDamage(journals, 'damaged').map(placeOf),
    torn: journals === undefined ? 0 : readDamage(journals, 'torn').length,
  };
  const comparison = compareWith(ledger, since);
  if (kafka === undefined) {
    await comparison.expect(shipped);
    return { journal, ledger: comparison.result };
  }
  const absent = new Set(shipped.map(({ id }) => id));
  const seen = new Set<string>();
  let repeated = 0;
  const counts = await kafka(async (messages) => {
    const expected: Expected[] = [];
    for (const { value, consumed } of messages) {
      const event = readEvent(value);
      if (event === undefined) continue; // a dead letter, or about to be one
      absent.delete(event.id);
      if (seen.has(event.id)) repeated++;
      else if (consumed) expected.push(event);
      seen.add(event.id);
      // Copies lie close together, so that not all ids need be remembered.
      if (seen.size > 1_000_000) seen.delete(seen.values().next().value ?? '');
    }
    await comparison.expect(expected);
  });
  return { journal, kafka: { ...counts, repeated, missing: [...absent] }, ledger: comparison.result };
};

export const differs = ({ journal, kafka, ledger }: Report): boolean => {
  const { missing, duplicated, altered } = ledger;
  const ids = [...missing, ...duplicated, ...altered, ...(kafka?.missing ?? [])];
  return (
    journal.damaged > 0 || journal.set_aside.length > 0 || (kafka?.deadLetters ?? 0) > 0 || ids.length > 0
  );
};

/** Asks the ledger for what should be there, and adds up what is not as it should be. */
const compareWith = (ledger: Pick<Ledger, 'find'>, since: number) => {
  const result = { found: 0, missing: [] as string[], duplicated: [] as string[], altered: [] as string[] };
  const compare = async (events: readonly Expected[]): Promise<void> => {
    const costs = new Map<string, string>();
    for (const { id, cost } of await ledger.find(events)) {
      if (costs.has(id)) result.duplicated.push(id);
      costs.set(id, cost);
    }
    for (const { id, cost } of events) {
      if (!costs.has(id)) result.missing.push(id);
      else if (costs.get(id) !== cost) result.altered.push(id);
    }
    result.found += events.filter(({ id }) => costs.has(id)).length;
  };
  return {
    result,
    expect: async (events: readonly Expected[]): Promise<void> => {
      const kept = events.filter(({ time }) => time >= since);
      const chunk = 1000;
      for (let at = 0; at < kept.length; at += chunk) await compare(kept.slice(at, at + chunk));
    },
  };
};

const placeOf = ({ journal, segment, offset, bytes, time }: ReturnType<typeof readDamage>[number]): string =>
  `${bytes} bytes of journal ${journal}, segment ${segment} at ${offset}, set aside ${time}`;

interface Journals {
  readonly shipped: Expected[];
  waiting: number;
  damaged: number;
}

const readJournals = (parent: string | undefined): Journals => {
  const journals: Journals = { shipped: [], waiting: 0, damaged: 0 };
  for (const folder of parent === undefined ? [] : journalFolders(parent)) readJournal(folder, journals);
  return journals;
};

/** A gateway may be writing and shipping it meanwhile: what is on disk now counts, and a folder may go. */
const readJournal = (folder: string, into: Journals): void => {
  try {
    const last = listSegments(folder).at(-1);
    if (last === undefined) return;
    const end = { segment: last, offset: wholeLines(folder, last) };
    const shipped = readCursor(folder);
    let place: Cursor = start;
    for (;;) {
      // Up to the cursor first, so that no batch lies on both sides of it.
      const before = isBefore(place, shipped);
      const batch = readBatch(folder, place, before ? shipped : end);
      if (batch === undefined && !before) return;
      place = batch?.next ?? shipped;
      if (batch === undefined) continue;
      into.damaged += batch.damaged.length;
      if (before) into.shipped.push(...batch.events.map((json) => JSON.parse(json) as UsageEvent));
      else into.waiting += batch.events.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

/** Without a line that a dead process left half, or a running one is writing. */
const wholeLines = (folder: string, segment: number): number =>
  readFileSync(segmentPath(folder, segment)).lastIndexOf('\n') + 1;

const readEvent = (value: Uint8Array): Expected | undefined => {
  try {
    const event = JSON.parse(Buffer.from(value).toString()) as UsageEvent;
    return typeof event?.id === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
};
