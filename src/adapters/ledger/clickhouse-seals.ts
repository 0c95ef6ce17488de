/**
 * Snapshots of the totals of closed days, so that sums over years read rows per day instead of per request.
 *
 * A day without inserts for a while is closed. Its snapshot is valid until an event of that day is inserted again.
 * Why that is exact: a snapshot is taken with FINAL, of a day last touched longer ago than any insert can take, and is
 * dated back by that time. An insert that the snapshot could have missed is therefore recorded as later than it.
 *
 * In a cluster, replicas are behind each other, by no more than `mostLag`: no query uses one that is further behind. So a
 * snapshot misses only what was inserted less than that ago, and one that was written longer ago is on every replica.
 */
import { randomBytes } from 'node:crypto';
import { mostLag } from './clickhouse-cluster.ts';
import type { ClickHouse } from './clickhouse-connection.ts';
import { billedColumns } from './day-sums.ts';

export interface SealOptions {
  /** Seconds without inserts after which a day is closed; far more than an insert may take. */
  readonly quietSeconds?: number;
  /** Only days before this one, `2026-11-15`; today. */
  readonly before?: string;
}

/** Seconds after which a snapshot is used: in a cluster when all replicas have it, with some time to spare. */
export const settling = (inCluster: boolean): number => (inCluster ? 2 * mostLag : 0);

export interface SealedDay {
  /** Days since 1970. */
  readonly day: number;
  readonly snapshot: string;
}

/** Columns of the sums, in order, and how each comes out of the events. */
export const sums: readonly (readonly [name: string, ofEvents: string])[] = [
  ['requests', 'count()'],
  ['failed', "countIf(outcome = 'failed')"],
  ...billedColumns.map((name) => [name, `sum(${name})`] as const),
];

/** Days per call: the next call continues. */
const most = 40;
const touched = 'SELECT day, max(touched) AS touched FROM sluice_usage_touched GROUP BY day';

/** Takes snapshots of closed days without a valid one; returns how many. Several processes may do so at once. */
export const sealDays = async (
  clickHouse: ClickHouse,
  { quietSeconds = 3600, before }: SealOptions = {},
): Promise<number> => {
  const days = await clickHouse.query<[day: string, taken: string]>(
    `SELECT toString(day), toString(now64(3, 'UTC') - toIntervalSecond({quiet:UInt32})) AS taken
     FROM (${touched}) AS events LEFT JOIN (SELECT day, max(taken) AS taken FROM sluice_usage_seals GROUP BY day) AS seals USING (day)
     WHERE events.touched < now64(3, 'UTC') - toIntervalSecond({quiet:UInt32})
       AND seals.taken <= events.touched AND day < ${before === undefined ? "toDate(now('UTC'))" : '{before:Date}'}
     ORDER BY day LIMIT ${most}`,
    { quiet: quietSeconds, ...(before === undefined ? {} : { before }) },
  );
  for (const [day, taken] of days) {
    const snapshot = randomBytes(8).readBigUInt64BE().toString();
    await clickHouse.commandOnce(
      `INSERT INTO sluice_usage_by_day
       SELECT ${snapshot}, toDate(time) AS day, subscription, model, key, route, ${sums.map(([, sum]) => sum).join(', ')}
       FROM sluice_usage FINAL
       WHERE time >= toDateTime64('${day} 00:00:00', 3, 'UTC') AND time < toDateTime64('${day} 00:00:00', 3, 'UTC') + toIntervalDay(1)
       GROUP BY day, subscription, model, key, route`,
    );
    // Only a complete snapshot is ever read.
    await clickHouse.command(
      `INSERT INTO sluice_usage_seals (day, snapshot, taken) VALUES ('${day}', ${snapshot}, '${taken}')`,
    );
  }
  return days.length;
};

/** The days from `first` to before `last` with a valid snapshot, in order. */
export const sealedDays = async (
  clickHouse: ClickHouse,
  { first, last, settlingSeconds }: { first: number; last: number; settlingSeconds: number },
): Promise<readonly SealedDay[]> => {
  if (first >= last) return [];
  const settled =
    settlingSeconds === 0 ? '' : `WHERE written < now64(3, 'UTC') - toIntervalSecond(${settlingSeconds})`;
  // Both sides are subqueries: a join of two distributed tables would be refused.
  const rows = await clickHouse.query<[day: number, snapshot: string]>(
    `SELECT toUInt16(day) AS number, toString(seals.latest)
     FROM (SELECT day, argMax(snapshot, taken) AS latest, max(taken) AS latest_taken
       FROM sluice_usage_seals ${settled} GROUP BY day) AS seals LEFT JOIN (${touched}) AS events USING (day)
     WHERE number >= {first:UInt16} AND number < {last:UInt16} AND seals.latest_taken > events.touched ORDER BY number`,
    { first: Math.min(first, 65_535), last: Math.min(last, 65_535) },
  );
  return rows.map(([day, snapshot]) => ({ day: Number(day), snapshot }));
};
