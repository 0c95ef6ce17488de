/** A filter and groups in; totals out: whole days from the sums by day, what is left at both ends from the events. */
import { formatScaled } from '../../billing/decimal.ts';
import type { Page, UsageFilter, UsageGroup, UsageTotal } from '../../ports/ledger.ts';
import type { Sqlite, SqlValue } from '../sqlite.ts';
import { joinCost } from './libsql-rows.ts';

const day = 86_400_000;
const names = 'model, key, route, subscription';
const counts = 'failed, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, inputs';
const measures = 'megapixels, seconds, cost, cost_rest';

const groupColumns: Record<UsageGroup, string> = {
  day: `strftime('%Y-%m-%d', day * 86400, 'unixepoch')`,
  model: 'model',
  key: 'key',
  route: 'route',
  subscription: 'subscription',
};

/** Counts fit a number; larger sums come as text. */
type Sums = [number, number, number, number, number, number, number, string, string, string, string];

export const selectTotals = (
  sqlite: Sqlite,
  filter: UsageFilter,
  groups: readonly UsageGroup[],
  { after, limit }: Page<readonly string[]>,
): readonly UsageTotal[] => {
  if (filter.from >= filter.to) return [];
  const { from, values } = source(filter);
  const keys = groups.map((group) => groupColumns[group]).join(', ');
  const sums = [
    'sum(requests)',
    ...counts.split(', ').map((name) => `sum(${name})`),
    ...measures.split(', ').map((name) => `CAST(sum(${name}) AS TEXT)`),
  ];
  const beyond =
    after === undefined || groups.length === 0 ? '' : `WHERE (${keys}) > (${after.map(() => '?').join(',')})`;
  const sql = `SELECT ${[...(keys === '' ? [] : [keys]), ...sums].join(', ')} FROM (${from}) ${beyond}
    ${keys === '' ? 'HAVING count(*) > 0' : `GROUP BY ${keys} ORDER BY ${keys}`} LIMIT ?`;
  return sqlite
    .all<[...string[], ...Sums]>(sql, [...values, ...(beyond === '' ? [] : (after ?? [])), limit])
    .map((row) => total(row.slice(0, groups.length) as string[], row.slice(groups.length) as Sums));
};

/** Everything the filter lets through, as rows of the sums by day. */
const source = (filter: UsageFilter): { from: string; values: SqlValue[] } => {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const take = (table: string, column: string, from: number, to: number): void => {
    if (from >= to) return;
    const owner = filter.subscription === undefined ? '' : 'AND subscription = ?';
    parts.push(`${table} WHERE ${column} >= ? AND ${column} < ? ${owner}`);
    values.push(from, to, ...(filter.subscription === undefined ? [] : [filter.subscription]));
  };
  const byDay = `SELECT day, ${names}, requests, ${counts}, ${measures} FROM usage_by_day`;
  const byEvent = `SELECT time / ${day} AS day, ${names}, 1 AS requests, ${counts}, ${measures} FROM usage`;
  const firstDay = Math.ceil(filter.from / day);
  const lastDay = Math.floor(filter.to / day);
  if (firstDay >= lastDay) take(byEvent, 'time', filter.from, filter.to);
  else {
    take(byEvent, 'time', filter.from, firstDay * day);
    take(byDay, 'day', firstDay, lastDay);
    take(byEvent, 'time', lastDay * day, filter.to);
  }
  return { from: parts.join(' UNION ALL '), values };
};

const total = (group: readonly string[], sums: Sums): UsageTotal => {
  const [requests, failed, prompt, completion, cached, reasoning, inputs, megapixels, seconds, cost, rest] =
    sums;
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
    cost: formatScaled(joinCost(BigInt(cost), BigInt(rest))),
  };
};
