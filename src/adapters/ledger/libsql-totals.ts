/** Totals from SQLite: whole days from the sums by day, partial days from the events. */
import { formatScaled } from '../../helpers/decimal.ts';
import {
  filteredBy,
  type Page,
  type UsageFilter,
  type UsageGroup,
  type UsageTotal,
} from '../../ports/ledger.ts';
import type { Sqlite, SqlValue } from '../sqlite.ts';
import { type DayRow, millisecondsOfDay, sumColumns } from './day-sums.ts';

/** `day` is the number of the span that sums are by. */
const groupColumns = (spanSeconds: number): Record<UsageGroup, string> => ({
  hour: `strftime('%Y-%m-%dT%H:00Z', day * ${spanSeconds}, 'unixepoch')`,
  day: `strftime('%Y-%m-%d', day * ${spanSeconds}, 'unixepoch')`,
  month: `strftime('%Y-%m', day * ${spanSeconds}, 'unixepoch')`,
  model: 'model',
  key: 'key',
  route: 'route',
  subscription: 'subscription',
});

const columns = ['day', 'subscription', 'model', 'key', 'route', ...sumColumns];
/** Counts fit a number; larger sums come as text. */
const sums = sumColumns.map((name, index) => (index < 7 ? `sum(${name})` : `CAST(sum(${name}) AS TEXT)`));
type Sums = [number, number, number, number, number, number, number, string, string, string, string];

export interface Extent {
  /** First and last whole day, the last one exclusive, and the parts of days beside them. */
  readonly days: readonly [first: number, last: number];
  readonly edges: readonly (readonly [from: number, to: number])[];
}

export const extentOf = ({ from, to }: UsageFilter): Extent => {
  const first = Math.ceil(from / millisecondsOfDay);
  const last = Math.floor(to / millisecondsOfDay);
  if (first >= last) return { days: [0, 0], edges: from < to ? [[from, to]] : [] };
  const edges = [
    [from, first * millisecondsOfDay],
    [last * millisecondsOfDay, to],
  ] as const;
  return { days: [first, last], edges: edges.filter(([start, end]) => start < end) };
};

/** Conditions of what a filter names, and their values. */
export const named = (
  filter: Partial<UsageFilter>,
): { readonly where: string; readonly values: readonly string[] } => {
  const given = filteredBy.filter((name) => filter[name] !== undefined);
  return {
    where: given.map((name) => `AND ${name} = ?`).join(' '),
    values: given.map((name) => filter[name] ?? ''),
  };
};

interface TotalsOf {
  readonly filter: UsageFilter;
  readonly days: Extent['days'];
  /** Sums of the events in the parts of days, or of all of them by hour. */
  readonly edges: readonly DayRow[];
  readonly spanSeconds: number;
}

export const selectTotals = (
  sqlite: Sqlite,
  { filter, days, edges, spanSeconds }: TotalsOf,
  groups: readonly UsageGroup[],
  { after, limit }: Page<readonly string[]>,
): readonly UsageTotal[] => {
  const columnOf = groupColumns(spanSeconds);
  const keys = groups.map((group) => columnOf[group]).join(', ');
  const { where, values: names } = named(filter);
  const beyond =
    after === undefined || groups.length === 0 ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(',')})`;
  const values: SqlValue[] = [
    ...days,
    ...names,
    JSON.stringify(edges, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ...(beyond === '' ? [] : (after ?? [])),
    limit,
  ];
  return sqlite
    .all<[...string[], ...Sums]>(
      `SELECT ${keys === '' ? '' : `${keys}, `}${sums.join(', ')} FROM (
         SELECT ${columns.join(', ')} FROM usage_by_day WHERE day >= ? AND day < ? ${where}
         UNION ALL
         SELECT ${columns.map((_, index) => edgeColumn(index)).join(', ')} FROM json_each(?)
       ) ${beyond} ${keys === '' ? 'HAVING count(*) > 0' : `GROUP BY ${keys} ORDER BY ${keys}`} LIMIT ?`,
      values,
    )
    .map((row) => total(row.slice(0, groups.length) as string[], row.slice(groups.length) as Sums));
};

/** Large numbers travel as text: JSON's would become floats. */
const edgeColumn = (index: number): string =>
  index >= 1 && index <= 4 ? `value ->> ${index}` : `CAST(value ->> ${index} AS INTEGER)`;

const total = (group: readonly string[], values: Sums): UsageTotal => {
  const [requests, failed, prompt, completion, cached, reasoning, inputs, megapixels, seconds, cost, rest] =
    values;
  return {
    group,
    requests,
    failed,
    prompt_tokens: prompt,
    completion_tokens: completion,
    cached_tokens: cached,
    reasoning_tokens: reasoning,
    inputs,
    megapixels: formatScaled({ units: BigInt(megapixels), scale: 9 }),
    seconds: formatScaled({ units: BigInt(seconds), scale: 9 }),
    cost: formatScaled({ units: BigInt(cost) * 1_000_000_000n + BigInt(rest), scale: 18 }),
  };
};
