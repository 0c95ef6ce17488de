/** Usage events in; those that are new written, and added to the sums by day, in one transaction. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Sqlite } from '../sqlite.ts';
import { DaySums, sumColumns } from './day-sums.ts';

const eventMarks = '(?,?,?,?)';
const dayMarks = `(${Array(5 + sumColumns.length)
  .fill('?')
  .join(',')})`;
const addition = sumColumns.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

/** Rows of one transaction: a millisecond or so of the event loop. */
const most = 100;

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
    const fresh = withoutKnown(sqlite, entries);
    if (fresh.length === 0) return;
    sqlite.run(
      `INSERT INTO usage VALUES ${Array(fresh.length).fill(eventMarks).join(',')}`,
      fresh.flatMap(({ event, text }) => [event.id, event.time, event.subscription, text]),
    );
    const sums = new DaySums();
    for (const { event } of fresh) sums.add(event);
    const rows = sums.rows();
    sqlite.run(
      `INSERT INTO usage_by_day VALUES ${Array(rows.length).fill(dayMarks).join(',')} ON CONFLICT DO UPDATE SET ${addition}`,
      rows.flat(),
    );
  });

/** Each id once, and none that is there already. */
const withoutKnown = (sqlite: Sqlite, entries: readonly Entry[]): readonly Entry[] => {
  const byId = new Map(entries.map((entry) => [entry.event.id, entry]));
  const known = sqlite.all<[string]>('SELECT id FROM usage WHERE id IN (SELECT value FROM json_each(?))', [
    JSON.stringify([...byId.keys()]),
  ]);
  for (const [id] of known) byId.delete(id);
  return [...byId.values()];
};
