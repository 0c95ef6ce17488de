/** Reads blocks of usage events from SQLite by time or id, and removes old ones. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { EventPage, EventPlace, LedgerEntry, UsageFilter } from '../../ports/ledger.ts';
import type { Sqlite, SqlValue } from '../sqlite.ts';
import { millisecondsOfDay } from './day-sums.ts';
import { decodeEvents } from './event-differences.ts';
import { blockSpan } from './libsql-schema.ts';
import { named } from './libsql-totals.ts';

type Place = readonly [first: number, id: number];
type Header = readonly [id: number, first: number, size: number];

/** Blocks removed at once. */
const removed = 2;

/** By time and id, of all keys, models and routes. */
export const listEvents = (
  sqlite: Sqlite,
  filter: UsageFilter,
  { after, limit, order }: EventPage,
): readonly UsageEvent[] => {
  const descending = order === 'desc';
  const sign = descending ? -1 : 1;
  const from = descending ? filter.from : Math.max(filter.from, after?.time ?? 0);
  const to = descending && after !== undefined ? Math.min(filter.to, after.time + 1) : filter.to;
  const wanted = (event: UsageEvent): boolean =>
    event.time >= from && event.time < to && (after === undefined || sign * compare(event, after) > 0);
  let found: UsageEvent[] = [];
  let place: Place = descending ? [to, 0] : [from - blockSpan, 0];
  for (;;) {
    const blocks = enough(headers(sqlite, { ...filter, from, to }, place, limit, descending), limit);
    const [id, first] = blocks.at(-1) ?? [];
    if (id === undefined || first === undefined) return found;
    found.push(...readBlocks(sqlite, blocks.map(idOf)).filter(wanted));
    found = found.sort((one, other) => sign * compare(one, other)).slice(0, limit);
    const last = found.at(-1);
    // Blocks that follow begin no earlier than this one did; in the other order, no later, and are no longer than a span.
    const isPast = last !== undefined && (descending ? last.time >= first + blockSpan : last.time < first);
    if (found.length === limit && isPast) return found;
    place = [first, id];
  }
};

/** Days of a period on which something that the filter names was used, in order. */
export const daysWith = (
  sqlite: Sqlite,
  filter: UsageFilter,
  order: EventPage['order'],
): readonly number[] => {
  const { where, values } = named(filter);
  return sqlite
    .all<[number]>(
      `SELECT DISTINCT day FROM usage_by_day WHERE day >= ? AND day < ? ${where}
         ORDER BY day ${order === 'desc' ? 'DESC' : ''}`,
      [Math.floor(filter.from / millisecondsOfDay), Math.ceil(filter.to / millisecondsOfDay), ...values],
    )
    .map(([day]) => day);
};

export const findEvents = (
  sqlite: Sqlite,
  events: readonly Pick<UsageEvent, 'id' | 'time' | 'subscription'>[],
): readonly LedgerEntry[] => {
  const ids = new Set(events.map(({ id }) => id));
  const blocks = sqlite.all<[number]>(
    `SELECT DISTINCT usage_blocks.id FROM json_each(?), usage_blocks WHERE subscription = value ->> 0
       AND first > (value ->> 1) - ${blockSpan} AND first <= value ->> 1 AND last >= value ->> 1`,
    [JSON.stringify(events.map(({ subscription, time }) => [subscription, time]))],
  );
  return readBlocks(sqlite, blocks.map(idOf))
    .filter(({ id }) => ids.has(id))
    .map(({ id, cost }) => ({ id, cost }));
};

/** `limit` is the start of a day: events and their sums are removed together. Returns the number of blocks removed. */
export const removeBefore = (sqlite: Sqlite, limit: number): number =>
  sqlite.transaction(() => {
    sqlite.run('DELETE FROM usage_by_day WHERE day < ?', [limit / millisecondsOfDay]);
    const old = sqlite.all<[number]>('SELECT id FROM usage_blocks WHERE first < ? ORDER BY first LIMIT ?', [
      limit,
      removed,
    ]);
    const ids = readBlocks(sqlite, old.map(idOf)).map(({ id }) => id);
    sqlite.run('DELETE FROM usage_ids WHERE id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)]);
    for (const [id] of old) sqlite.run('DELETE FROM usage_blocks WHERE id = ?', [id]);
    return old.length;
  });

/** Of blocks that may hold events of a time, behind a place, in the order of their first event; from an index alone. */
const headers = (
  sqlite: Sqlite,
  filter: UsageFilter,
  [first, id]: Place,
  limit: number,
  descending: boolean,
): readonly Header[] => {
  const [beyond, order] = descending ? ['<', 'first DESC, id DESC'] : ['>', 'first, id'];
  const values: SqlValue[] = [first, id, filter.from, filter.to];
  if (filter.subscription !== undefined) values.push(filter.subscription);
  return sqlite.all<[number, number, number]>(
    `SELECT id, first, size FROM usage_blocks WHERE (first, id) ${beyond} (?, ?) AND last >= ? AND first < ?
       ${filter.subscription === undefined ? '' : 'AND subscription = ?'} ORDER BY ${order} LIMIT ?`,
    [...values, limit],
  );
};

/** As many of them as hold that many events. */
const enough = (blocks: readonly Header[], limit: number): readonly Header[] => {
  let events = 0;
  const count = blocks.findIndex(([, , size]) => {
    events += size;
    return events >= limit;
  });
  return count < 0 ? blocks : blocks.slice(0, count + 1);
};

const readBlocks = (sqlite: Sqlite, ids: readonly number[]): UsageEvent[] =>
  sqlite
    .all<[string]>('SELECT events FROM usage_blocks WHERE id IN (SELECT value FROM json_each(?))', [
      JSON.stringify(ids),
    ])
    .flatMap(([events]) => decodeEvents(events));

const idOf = ([id]: readonly [number, ...unknown[]]): number => id;

const compare = (one: EventPlace, other: EventPlace): number => {
  if (one.time !== other.time) return one.time - other.time;
  return one.id < other.id ? -1 : Number(one.id > other.id);
};
