/** The ledger in ClickHouse: one table whose rows collapse by event id, so that each event counts once. */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { fail } from '../../errors.ts';
import type { EventPage, Ledger, UsageFilter } from '../../ports/ledger.ts';
import { clusterQuerySettings, tokenOf } from './clickhouse-cluster.ts';
import { ClickHouse, type Parameters } from './clickhouse-connection.ts';
import { columns, endOfTime, rowOf } from './clickhouse-rows.ts';
import { createTables } from './clickhouse-schema.ts';
import { type SealOptions, sealDays, settling } from './clickhouse-seals.ts';
import type { ClusterSettings } from './clickhouse-settings.ts';
import { named, selectTotals } from './clickhouse-totals.ts';

interface ClickHouseLedger extends Ledger {
  /** Takes snapshots of the totals of closed days; returns how many. */
  seal(options?: SealOptions): Promise<number>;
}

interface ClickHouseLedgerOptions {
  /** Undefined: the tables of one server. */
  readonly cluster?: ClusterSettings | undefined;
  /** Seconds after which a snapshot is used. */
  readonly settlingSeconds?: number;
  /** Days that events are kept, 0 for ever. Undefined: as the table has it. */
  readonly retentionDays?: number | undefined;
  /** Milliseconds a call may take. */
  readonly patience?: number;
  /** With a log, snapshots of closed days are taken from time to time. */
  readonly maintenanceLog?: Logger;
}

const tenMinutes = 600_000;

/** Events that are encoded in one tick of the event loop: about a millisecond. */
const tickSize = 100;

/** Ids of one lookup: parameters travel in the address, which has a bound. */
const lookup = 200;

/** Several addresses are those of servers of one cluster. */
export const openClickHouseLedger = (
  urls: string | readonly string[],
  options: ClickHouseLedgerOptions = {},
): ClickHouseLedger => {
  const { cluster, settlingSeconds = settling(cluster !== undefined) } = options;
  const clickHouse = new ClickHouse(typeof urls === 'string' ? [urls] : urls, {
    ...(options.patience !== undefined && { patience: options.patience }),
    ...(cluster !== undefined && { settings: clusterQuerySettings(cluster) }),
  });
  let created: Promise<void> | undefined;
  /** Once for this process, and again after a failure. */
  const ready = (): Promise<void> => {
    created ??= createTables(clickHouse, cluster?.name, options.retentionDays).catch((error: unknown) => {
      created = undefined;
      // Whatever the reason, the events themselves are not at fault.
      throw fail('unavailable', 'The usage ledger is unavailable', { cause: error });
    });
    return created;
  };

  const seal = async (asked?: SealOptions): Promise<number> => {
    await ready();
    return sealDays(clickHouse, asked);
  };
  const { maintenanceLog } = options;
  const sealing =
    maintenanceLog === undefined
      ? undefined
      : setInterval(() => {
          seal().catch((error: unknown) =>
            maintenanceLog.warn({ err: error }, 'ledger snapshots failed; retried later'),
          );
        }, tenMinutes).unref();

  return {
    insert: async (events, textOf) => {
      const { rows, ids } = await encode(events, textOf);
      if (ids.length === 0) return;
      await ready();
      await clickHouse.insert('sluice_usage', columns, rows, cluster && tokenOf(ids));
    },
    totals: async (filter, groups, page) => {
      await ready();
      return selectTotals(clickHouse, filter, groups, page, settlingSeconds);
    },
    list: async (filter, page) => {
      await ready();
      return list(clickHouse, filter, page);
    },
    find: async (events) => {
      await ready();
      const found = [];
      for (let i = 0; i < events.length; i += lookup)
        found.push(...(await find(clickHouse, events.slice(i, i + lookup))));
      return found;
    },
    seal,
    check: () => clickHouse.check(ready),
    close: () => {
      clearInterval(sealing);
      return clickHouse.close();
    },
  };
};

/** Keeps nothing of an event but its bytes: thousands at once are work for the garbage collector. */
const encode = async (
  events: Iterable<UsageEvent>,
  textOf: ((index: number) => string) | undefined,
): Promise<{ rows: readonly Buffer[]; ids: readonly string[] }> => {
  const rows: Buffer[] = [];
  const ids: string[] = [];
  let some = '';
  for (const event of events) {
    some += rowOf(event, textOf?.(ids.length));
    ids.push(event.id);
    if (ids.length % tickSize > 0) continue;
    rows.push(Buffer.from(some));
    some = '';
    await setImmediate();
  }
  rows.push(Buffer.from(some));
  return { rows, ids };
};

const list = async (
  clickHouse: ClickHouse,
  filter: UsageFilter,
  page: EventPage,
): Promise<readonly UsageEvent[]> => {
  const { where, values } = condition(filter);
  const descending = page.order === 'desc';
  const beyond =
    page.after === undefined
      ? ''
      : `AND (time, id) ${descending ? '<' : '>'} (fromUnixTimestamp64Milli({afterTime:Int64}, 'UTC'), {afterId:String})`;
  const order = descending ? 'time DESC, id DESC' : 'time, id';
  const rows = await clickHouse.query<[string]>(
    `SELECT event FROM sluice_usage FINAL WHERE ${where} ${beyond} ORDER BY ${order} LIMIT {limit:UInt32}`,
    {
      ...values,
      limit: page.limit,
      ...(page.after === undefined ? {} : { afterTime: page.after.time, afterId: page.after.id }),
    },
  );
  return rows.map(([event]) => JSON.parse(event) as UsageEvent);
};

const condition = (filter: UsageFilter): { where: string; values: Parameters } => ({
  where: `time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ${named(filter).where}`,
  values: {
    from: Math.max(0, Math.min(filter.from, endOfTime)),
    to: Math.max(0, Math.min(filter.to, endOfTime)),
    ...named(filter).values,
  },
});

/** Subscription and time are the primary key: with them a lookup reads next to nothing. */
const find = async (
  clickHouse: ClickHouse,
  events: readonly Pick<UsageEvent, 'id' | 'time' | 'subscription'>[],
) => {
  const times = events.map(({ time }) => time);
  const rows = await clickHouse.query<[string, string]>(
    `SELECT id, toString(cost) FROM sluice_usage FINAL
     WHERE subscription IN {subscriptions:Array(String)} AND id IN {ids:Array(String)}
       AND time >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND time <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
    {
      subscriptions: [...new Set(events.map(({ subscription }) => subscription))],
      ids: events.map(({ id }) => id),
      from: Math.min(...times),
      to: Math.max(...times),
    },
  );
  return rows.map(([id, cost]) => ({ id, cost }));
};
