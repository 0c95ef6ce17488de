/** Writes new usage events in blocks, and adds them to the sums by day, in one transaction. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { DaySums, sumColumns } from './day-sums.ts';
import { encodeEvents } from './event-differences.ts';
import { blockSpan } from './libsql-schema.ts';

const dayMarks = `(${Array(5 + sumColumns.length)
  .fill('?')
  .join(',')})`;
const addition = sumColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

export const insertNew = (sqlite: Sqlite, events: readonly UsageEvent[]): void =>
  sqlite.transaction(() => {
    let [block] = sqlite.get<[number]>('SELECT coalesce(max(id), 0) FROM usage_blocks') ?? [0];
    const fresh = claimIds(sqlite, events, block + 1);
    if (fresh.length === 0) return;
    for (const eventsOfBlock of blocksOf(fresh)) insertBlock(sqlite, ++block, eventsOfBlock);
    const sums = new DaySums();
    for (const event of fresh) sums.add(event);
    const rows = sums.rows();
    sqlite.run(
      `INSERT INTO usage_by_day VALUES ${Array(rows.length).fill(dayMarks).join(',')} ON CONFLICT DO UPDATE SET ${addition}`,
      rows.flat(),
    );
  });

/** Returns the events whose id was not there, each once. */
const claimIds = (sqlite: Sqlite, events: readonly UsageEvent[], batch: number): readonly UsageEvent[] => {
  const ids = JSON.stringify(events.map(({ id }) => id));
  const claimed = sqlite.run('INSERT OR IGNORE INTO usage_ids SELECT value, ? FROM json_each(?)', [
    batch,
    ids,
  ]);
  if (claimed === events.length) return events;
  // By index: the library returns no text after a NUL.
  const indexes = sqlite.all<[number]>(
    'SELECT key FROM json_each(?) JOIN usage_ids ON usage_ids.id = value AND batch = ?',
    [ids, batch],
  );
  const fresh = new Set(indexes.map(([index]) => events[index]?.id));
  return events.filter(({ id }) => fresh.delete(id));
};

/** Of one subscription and one segment of time each; events that come together mostly share both. */
const blocksOf = (events: readonly UsageEvent[]): Iterable<readonly UsageEvent[]> => {
  const blocks = new Map<string, UsageEvent[]>();
  let latest: UsageEvent[] = [];
  for (const event of events) {
    if (
      latest[0] === undefined ||
      segmentOf(latest[0]) !== segmentOf(event) ||
      latest[0].subscription !== event.subscription
    ) {
      const name = `${segmentOf(event)} ${event.subscription}`;
      latest = blocks.get(name) ?? [];
      blocks.set(name, latest);
    }
    latest.push(event);
  }
  return blocks.values();
};

const segmentOf = ({ time }: UsageEvent): number => Math.floor(time / blockSpan);

const insertBlock = (sqlite: Sqlite, id: number, events: readonly UsageEvent[]): void => {
  const times = events.map(({ time }) => time);
  sqlite.run('INSERT INTO usage_blocks VALUES (?, ?, ?, ?, ?, ?)', [
    id,
    events[0]?.subscription ?? '',
    Math.min(...times),
    Math.max(...times),
    events.length,
    encodeEvents(events),
  ]);
};
