/** Writes new usage events as JSON in blocks, and adds them to the sums by day, in one transaction. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { DaySums, sumColumns } from './day-sums.ts';
import { blockSpan } from './libsql-schema.ts';

/** An event and its JSON. */
export interface Entry {
  readonly event: UsageEvent;
  readonly json: string;
}

const dayMarks = `(${Array(5 + sumColumns.length)
  .fill('?')
  .join(',')})`;
const addition = sumColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

export const insertNew = (sqlite: Sqlite, entries: readonly Entry[]): void =>
  sqlite.transaction(() => {
    let [block] = sqlite.get<[number]>('SELECT coalesce(max(id), 0) FROM usage_blocks') ?? [0];
    const fresh = claimIds(sqlite, entries, block + 1);
    if (fresh.length === 0) return;
    for (const entriesOfBlock of blocksOf(fresh)) insertBlock(sqlite, ++block, entriesOfBlock);
    const sums = new DaySums();
    for (const { event } of fresh) sums.add(event);
    const rows = sums.rows();
    sqlite.run(
      `INSERT INTO usage_by_day VALUES ${Array(rows.length).fill(dayMarks).join(',')} ON CONFLICT DO UPDATE SET ${addition}`,
      rows.flat(),
    );
  });

/** Returns the entries whose id was not there, each once. */
const claimIds = (sqlite: Sqlite, entries: readonly Entry[], batch: number): readonly Entry[] => {
  const ids = JSON.stringify(entries.map(({ event }) => event.id));
  const claimed = sqlite.run('INSERT OR IGNORE INTO usage_ids SELECT value, ? FROM json_each(?)', [
    batch,
    ids,
  ]);
  if (claimed === entries.length) return entries;
  // By index: the library returns no text after a NUL.
  const indexes = sqlite.all<[number]>(
    'SELECT key FROM json_each(?) JOIN usage_ids ON usage_ids.id = value AND batch = ?',
    [ids, batch],
  );
  const fresh = new Set(indexes.map(([index]) => entries[index]?.event.id));
  return entries.filter(({ event }) => fresh.delete(event.id));
};

/** Of one subscription and one segment of time each; events that come together mostly share both. */
const blocksOf = (entries: readonly Entry[]): Iterable<readonly Entry[]> => {
  const blocks = new Map<string, Entry[]>();
  let latest: Entry[] = [];
  for (const entry of entries) {
    if (
      latest[0] === undefined ||
      segmentOf(latest[0]) !== segmentOf(entry) ||
      ownerOf(latest[0]) !== ownerOf(entry)
    ) {
      const name = `${segmentOf(entry)} ${ownerOf(entry)}`;
      latest = blocks.get(name) ?? [];
      blocks.set(name, latest);
    }
    latest.push(entry);
  }
  return blocks.values();
};

const segmentOf = ({ event }: Entry): number => Math.floor(event.time / blockSpan);
const ownerOf = ({ event }: Entry): string => event.subscription;

const insertBlock = (sqlite: Sqlite, id: number, entries: readonly Entry[]): void => {
  const times = entries.map(({ event }) => event.time);
  sqlite.run('INSERT INTO usage_blocks VALUES (?, ?, ?, ?, ?, ?)', [
    id,
    entries[0]?.event.subscription ?? '',
    Math.min(...times),
    Math.max(...times),
    entries.length,
    `[${entries.map(({ json }) => json).join(',')}]`,
  ]);
};
