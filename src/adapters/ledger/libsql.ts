/** The ledger in a SQLite file of the data folder: one row an event, keyed by its id; totals are sums over rows. */
import { setImmediate } from 'node:timers/promises';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { Ledger, UsageFilter, UsageGroup, UsageTotal } from '../../ports/ledger.ts';
import { openSqlite, type Sqlite, type SqlValue } from '../sqlite.ts';
import { formatPico, toPico } from './pico.ts';

const migrations = [
  `CREATE TABLE usage (
     id TEXT PRIMARY KEY,
     time INTEGER NOT NULL,
     subscription TEXT NOT NULL,
     key TEXT NOT NULL,
     route TEXT NOT NULL,
     model TEXT NOT NULL,
     prompt_tokens INTEGER NOT NULL,
     completion_tokens INTEGER NOT NULL,
     cached_tokens INTEGER NOT NULL,
     reasoning_tokens INTEGER NOT NULL,
     cost_pico INTEGER NOT NULL,
     event TEXT NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX usage_by_owner ON usage (subscription, time, id);
   CREATE INDEX usage_by_time ON usage (time, id);`,
];

/** Events per transaction: a millisecond or so of the event loop. */
const chunk = 100;
const columns = 12;
const rowMarks = `(${Array(columns).fill('?').join(',')})`;

const groupColumns: Record<UsageGroup, string> = {
  day: `strftime('%Y-%m-%d', time / 1000, 'unixepoch')`,
  model: 'model',
  key: 'key',
  route: 'route',
  subscription: 'subscription',
};

export const openLibsqlLedger = (file: string): Ledger => {
  const sqlite = openSqlite(file, migrations);
  return {
    insert: async (events) => {
      for (let i = 0; i < events.length; i += chunk) {
        if (i > 0) await setImmediate();
        insertRows(sqlite, events.slice(i, i + chunk));
      }
    },
    totals: async (filter, groups) => totals(sqlite, filter, groups),
    list: async (filter, page) => list(sqlite, filter, page),
    known: async (ids) => known(sqlite, ids),
    check: async () => {
      sqlite.get('SELECT 1');
    },
    close: async () => sqlite.close(),
  };
};

const insertRows = (sqlite: Sqlite, events: readonly UsageEvent[]): void => {
  const sql = `INSERT INTO usage VALUES ${Array(events.length).fill(rowMarks).join(',')} ON CONFLICT (id) DO NOTHING`;
  sqlite.run(sql, events.flatMap(rowOf));
};

const rowOf = (event: UsageEvent): SqlValue[] => [
  event.id,
  event.time,
  event.subscription,
  event.key,
  event.route,
  event.model,
  event.quantities.prompt_tokens,
  event.quantities.completion_tokens,
  event.quantities.cached_tokens,
  event.quantities.reasoning_tokens,
  toPico(event.cost),
  JSON.stringify(event),
];

const condition = (filter: UsageFilter): { where: string; values: SqlValue[] } =>
  filter.subscription === undefined
    ? { where: 'time >= ? AND time < ?', values: [filter.from, filter.to] }
    : {
        where: 'subscription = ? AND time >= ? AND time < ?',
        values: [filter.subscription, filter.from, filter.to],
      };

type Sums = [number, number, number, number, number, string];

const totals = (
  sqlite: Sqlite,
  filter: UsageFilter,
  groups: readonly UsageGroup[],
): readonly UsageTotal[] => {
  const { where, values } = condition(filter);
  const keys = groups.map((group) => groupColumns[group]);
  const grouping = keys.length === 0 ? '' : `GROUP BY ${keys.join(',')} ORDER BY ${keys.join(',')}`;
  const rows = sqlite.all<[...string[], ...Sums]>(
    `SELECT ${[...keys, ''].join(',')} count(*), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens),
       sum(reasoning_tokens), CAST(sum(cost_pico) AS TEXT) FROM usage WHERE ${where} ${grouping}`,
    values,
  );
  return rows.flatMap((row) => {
    const group = row.slice(0, groups.length) as string[];
    const [events, prompt, completion, cached, reasoning, cost] = row.slice(groups.length) as Sums;
    if (events === 0) return [];
    return {
      group,
      events,
      prompt_tokens: prompt,
      completion_tokens: completion,
      cached_tokens: cached,
      reasoning_tokens: reasoning,
      cost: formatPico(BigInt(cost)),
    };
  });
};

const list = (
  sqlite: Sqlite,
  filter: UsageFilter,
  { after, limit }: { after?: string; limit: number },
): readonly UsageEvent[] => {
  const { where, values } = condition(filter);
  const cursor = after === undefined ? '' : 'AND (time, id) > (SELECT time, id FROM usage WHERE id = ?)';
  return sqlite
    .all<[string]>(`SELECT event FROM usage WHERE ${where} ${cursor} ORDER BY time, id LIMIT ?`, [
      ...values,
      ...(after === undefined ? [] : [after]),
      limit,
    ])
    .map(([event]) => JSON.parse(event) as UsageEvent);
};

const known = (sqlite: Sqlite, ids: readonly string[]): ReadonlySet<string> =>
  new Set(
    sqlite
      .all<[string]>('SELECT id FROM usage WHERE id IN (SELECT value FROM json_each(?))', [
        JSON.stringify(ids),
      ])
      .map(([id]) => id),
  );
