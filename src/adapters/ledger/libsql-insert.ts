/** Usage events in; those that are new written, in blocks of what came together, and added to the sums by day, in one transaction. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { DaySums, sumColumns } from './day-sums.ts';
import type { Counted } from './libsql-counted.ts';
import { blockSpan } from './libsql-migrations.ts';
import { pack } from './packed-events.ts';

const dayMarks = `(${Array(5 + sumColumns.length)
  .fill('?')
  .join(',')})`;
const addition = sumColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

/** Events of one transaction: a millisecond of the event loop. */
const most = 500;

export const portions = (events: readonly UsageEvent[]): readonly (readonly UsageEvent[])[] =>
  Array.from({ length: Math.ceil(events.length / most) }, (_, index) =>
    events.slice(index * most, (index + 1) * most),
  );

export const insertNew = (sqlite: Sqlite, counted: Counted, events: readonly UsageEvent[]): void =>
  sqlite.transaction(() => {
    const sums = new DaySums();
    let [block] = sqlite.get<[number]>('SELECT coalesce(max(id), 0) FROM usage_blocks') ?? [0];
    for (const together of blocksOf(events)) {
      const fresh = counted.add(together, ++block);
      if (fresh.length === 0) continue;
      insertBlock(sqlite, fresh, block);
      for (const event of fresh) sums.add(event);
    }
    const rows = sums.rows();
    if (rows.length === 0) return;
    sqlite.run(
      `INSERT INTO usage_by_day VALUES ${Array(rows.length).fill(dayMarks).join(',')} ON CONFLICT DO UPDATE SET ${addition}`,
      rows.flat(),
    );
  });

/** Of one subscription and one stretch of time each. */
const blocksOf = (events: readonly UsageEvent[]): Iterable<readonly UsageEvent[]> => {
  const blocks = new Map<string, UsageEvent[]>();
  let latest: UsageEvent[] = [];
  for (const event of events) {
    // Events that come together are mostly of one block.
    if (latest[0] === undefined || !areTogether(latest[0], event)) {
      const name = `${stretchOf(event)} ${event.subscription}`;
      latest = blocks.get(name) ?? [];
      blocks.set(name, latest);
    }
    latest.push(event);
  }
  return blocks.values();
};

const stretchOf = ({ time }: UsageEvent): number => Math.floor(time / blockSpan);

const areTogether = (one: UsageEvent, other: UsageEvent): boolean =>
  one.subscription === other.subscription && stretchOf(one) === stretchOf(other);

const insertBlock = (sqlite: Sqlite, events: readonly UsageEvent[], block: number): void => {
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const { time } of events) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  sqlite.run('INSERT INTO usage_blocks VALUES (?, ?, ?, ?, ?, ?)', [
    block,
    events[0]?.subscription ?? '',
    first,
    last,
    events.length,
    pack(events),
  ]);
};
