/** Totals from ClickHouse: sealed days from their snapshots, everything else from the events. */
import {
  filteredBy,
  type Page,
  type UsageFilter,
  type UsageGroup,
  type UsageTotal,
} from '../../ports/ledger.ts';
import type { ClickHouse, Parameters } from './clickhouse-connection.ts';
import { endOfTime } from './clickhouse-rows.ts';
import { type SealedDay, sealedDays, sums } from './clickhouse-seals.ts';

const millisecondsOfDay = 86_400_000;

const groupColumns: Record<UsageGroup, string> = {
  hour: "formatDateTime(hour, '%Y-%m-%dT%H:00Z', 'UTC')",
  day: 'toString(day)',
  month: "formatDateTime(day, '%Y-%m')",
  model: 'toString(model)',
  key: 'toString(key)',
  route: 'toString(route)',
  subscription: 'subscription',
};

/** Money and measures as text: a float would not be exact. */
const measures: readonly string[] = ['megapixels', 'seconds', 'cost'];

export const selectTotals = async (
  clickHouse: ClickHouse,
  filter: UsageFilter,
  groups: readonly UsageGroup[],
  { after, limit }: Page<readonly string[]>,
  settlingSeconds = 0,
): Promise<readonly UsageTotal[]> => {
  const [from, to] = [Math.max(0, filter.from), Math.min(filter.to, endOfTime)];
  if (from >= to) return [];
  const byHour = groups.includes('hour');
  // Snapshots have no hours.
  const days = byHour
    ? []
    : await sealedDays(clickHouse, {
        first: Math.ceil(from / millisecondsOfDay),
        last: Math.floor(to / millisecondsOfDay),
        settlingSeconds,
      });
  const { where, values } = named(filter);
  const keys = groups.map((group) => groupColumns[group]);
  const beyond =
    after === undefined || keys.length === 0 ? '' : `WHERE (${keys.join(', ')},) > (${places(after)},)`;
  const rows = await clickHouse.query<readonly (string | number)[]>(
    `SELECT ${[
      ...keys.map((key, index) => `${key} AS group${index}`),
      ...sums.map(([name]) => (measures.includes(name) ? `toString(sum(${name}))` : `sum(${name})`)),
    ].join(', ')}
     FROM (${source(days, from, to, where, byHour)}) ${beyond}
     ${keys.length === 0 ? 'HAVING count() > 0' : grouping(keys.length)}
     LIMIT {limit:UInt32} SETTINGS do_not_merge_across_partitions_select_final = 1`,
    {
      limit,
      ...values,
      ...Object.fromEntries((after ?? []).map((value, index) => [`after${index}`, value])),
    },
  );
  return rows.map((row) => total(row, groups.length));
};

const places = (after: readonly string[]): string =>
  after.map((_, index) => `{after${index}:String}`).join(', ');

const grouping = (count: number): string => {
  const names = Array.from({ length: count }, (_, index) => `group${index}`).join(', ');
  return `GROUP BY ${names} ORDER BY ${names}`;
};

/** The condition of what a filter names, and its parameters. */
export const named = (filter: UsageFilter): { readonly where: string; readonly values: Parameters } => {
  const given = filteredBy.flatMap((name) => {
    const value = filter[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    where: given.map(([name]) => `AND ${name} = {${name}:String}`).join(' '),
    values: Object.fromEntries(given),
  };
};

/** Snapshots and what lies between them, as rows of the same columns. Numbers are ours, so they may stand in the text. */
const source = (
  days: readonly SealedDay[],
  from: number,
  to: number,
  owner: string,
  byHour: boolean,
): string => {
  const names = 'subscription, model, key, route';
  const hour = byHour ? 'toStartOfHour(time) AS hour, ' : '';
  const parts: string[] = [];
  if (days.length > 0)
    parts.push(
      `SELECT day, ${names}, ${sums.map(([name]) => name).join(', ')} FROM sluice_usage_by_day
       WHERE snapshot IN (${days.map(({ snapshot }) => snapshot).join(', ')}) ${owner}`,
    );
  const gaps = between(days, from, to);
  if (gaps.length > 0)
    parts.push(
      `SELECT ${hour}toDate(time) AS day, ${names}, ${sums.map(([name, sum]) => `${sum} AS ${name}`).join(', ')}
       FROM sluice_usage FINAL WHERE (${gaps.map(within).join(' OR ')}) ${owner} GROUP BY ${byHour ? 'hour, ' : ''}day, ${names}`,
    );
  return parts.join(' UNION ALL ');
};

type Gap = readonly [from: number, to: number];

const between = (days: readonly SealedDay[], from: number, to: number): readonly Gap[] => {
  const gaps: Gap[] = [];
  let place = from;
  for (const { day } of days) {
    if (place < day * millisecondsOfDay) gaps.push([place, day * millisecondsOfDay]);
    place = (day + 1) * millisecondsOfDay;
  }
  if (place < to) gaps.push([place, to]);
  return gaps;
};

const within = ([from, to]: Gap): string =>
  `(time >= fromUnixTimestamp64Milli(toInt64(${from}), 'UTC') AND time < fromUnixTimestamp64Milli(toInt64(${to}), 'UTC'))`;

const total = (row: readonly (string | number)[], groups: number): UsageTotal => {
  const values = sums.map(([name], index) => {
    const value = row[groups + index] ?? 0;
    return [name, measures.includes(name) ? String(value) : Number(value)];
  });
  return { group: row.slice(0, groups).map(String), ...Object.fromEntries(values) };
};
