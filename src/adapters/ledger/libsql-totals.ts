/** Totals from SQLite: whole days from the sums by day, partial days from the events. */
import { formatScaled } from '../../decimal.ts';
import type { Page, UsageFilter, UsageGroup, UsageTotal } from '../../ports/ledger.ts';
import type { Sqlite, SqlValue } from '../sqlite.ts';
import { type DayRow, millisecondsOfDay, sumColumns } from './day-sums.ts';

const groupColumns: Record<UsageGroup, string> = {
  day: `strftime('%Y-%m-%d', day * 86400, 'unixepoch')`,
  model: 'model',
  key: 'key',
  route: 'route',
  subscription: 'subscription',
};

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

/** `edges` are the sums of the events in the parts of days. */
export const selectTotals = (
  sqlite: Sqlite,
  { subscription, days, edges }: { subscription?: string; days: Extent['days']; edges: readonly DayRow[] },
  groups: readonly UsageGroup[],
  { after, limit }: Page<readonly string[]>,
): readonly UsageTotal[] => {
  const keys = groups.map((group) => groupColumns[group]).join(', ');
  const owner = subscription === undefined ? '' : 'AND subscription = ?';
  const beyond =
    after === undefined || groups.length === 0 ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(',')})`;
  const values: SqlValue[] = [
    ...days,
    ...(subscription === undefined ? [] : [subscription]),
    JSON.stringify(edges, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ...(beyond === '' ? [] : (after ?? [])),
    limit,
  ];
  return sqlite
    .all<[...string[], ...Sums]>(
      `SELECT ${keys === '' ? '' : `${keys}, `}${sums.join(', ')} FROM (
         SELECT ${columns.join(', ')} FROM usage_by_day WHERE day >= ? AND day < ? ${owner}
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
