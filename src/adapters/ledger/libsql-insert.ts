/** Usage events in; those that are new written, in blocks of what came together, and added to the sums by day, in one transaction. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { DaySums, sumColumns } from './day-sums.ts';
import { blockSpan } from './libsql-migrations.ts';

const dayMarks = `(${Array(5 + sumColumns.length)
  .fill('?')
  .join(',')})`;
const addition = sumColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

/** Events of one transaction: a millisecond of the event loop, and a text that is not too large for the heap's own pages. */
const most = 220;

export interface Entry {
  readonly event: UsageEvent;
  readonly text: string;
}

export const portions = (
  events: readonly UsageEvent[],
  texts: readonly string[] | undefined,
): readonly (readonly Entry[])[] => {
  const entries = events.map((event, index) => ({ event, text: texts?.[index] ?? JSON.stringify(event) }));
  return Array.from({ length: Math.ceil(entries.length / most) }, (_, index) =>
    entries.slice(index * most, (index + 1) * most),
  );
};

export const insertNew = (sqlite: Sqlite, entries: readonly Entry[]): void =>
  sqlite.transaction(() => {
    const sums = new DaySums();
    let [block] = sqlite.get<[number]>('SELECT coalesce(max(id), 0) FROM usage_blocks') ?? [0];
    for (const together of blocksOf(entries)) {
      const fresh = claim(sqlite, together, ++block);
      if (fresh.length === 0) continue;
      insertBlock(sqlite, fresh, block);
      for (const { event } of fresh) sums.add(event);
    }
    const rows = sums.rows();
    if (rows.length === 0) return;
    sqlite.run(
      `INSERT INTO usage_by_day VALUES ${Array(rows.length).fill(dayMarks).join(',')} ON CONFLICT DO UPDATE SET ${addition}`,
      rows.flat(),
    );
  });

/** Of one subscription and one stretch of time each. */
const blocksOf = (entries: readonly Entry[]): Iterable<readonly Entry[]> => {
  const blocks = new Map<string, Entry[]>();
  let latest: Entry[] = [];
  for (const entry of entries) {
    // Events that come together are mostly of one block.
    if (latest[0] === undefined || !areTogether(latest[0], entry)) {
      const name = `${stretchOf(entry)} ${entry.event.subscription}`;
      latest = blocks.get(name) ?? [];
      blocks.set(name, latest);
    }
    latest.push(entry);
  }
  return blocks.values();
};

const stretchOf = ({ event }: Entry): number => Math.floor(event.time / blockSpan);

const areTogether = (one: Entry, other: Entry): boolean =>
  one.event.subscription === other.event.subscription && stretchOf(one) === stretchOf(other);

/** Writes their ids as those of this block; gives the events whose id was not there, each once. */
const claim = (sqlite: Sqlite, entries: readonly Entry[], block: number): readonly Entry[] => {
  const ids = JSON.stringify(entries.map(({ event }) => event.id));
  const claimed = sqlite.run('INSERT OR IGNORE INTO usage_ids SELECT value, ? FROM json_each(?)', [
    block,
    ids,
  ]);
  if (claimed === entries.length) return entries;
  // By place: the library gives no text behind a NUL back.
  const places = sqlite.all<[number]>(
    'SELECT key FROM json_each(?) JOIN usage_ids ON usage_ids.id = value AND block = ?',
    [ids, block],
  );
  const fresh = new Set(places.map(([index]) => entries[index]?.event.id));
  return entries.filter(({ event }) => fresh.delete(event.id));
};

const insertBlock = (sqlite: Sqlite, entries: readonly Entry[], block: number): void => {
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const { event } of entries) {
    first = Math.min(first, event.time);
    last = Math.max(last, event.time);
  }
  sqlite.run('INSERT INTO usage_blocks VALUES (?, ?, ?, ?, ?, ?)', [
    block,
    entries[0]?.event.subscription ?? '',
    first,
    last,
    entries.length,
    `[${entries.map(({ text }) => text).join(',')}]`,
  ]);
};
