/** The embedded ledger: a SQLite file with blocks of events, their ids, and sums by day. */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { fail } from '../../errors.ts';
import type { Ledger, UsageFilter } from '../../ports/ledger.ts';
import { checkReadable, openSqlite, whenFree } from '../sqlite.ts';
import { DaySums, millisecondsOfDay } from './day-sums.ts';
import { findEvents, listEvents, removeBefore } from './libsql-blocks.ts';
import { insertNew } from './libsql-insert.ts';
import { schema } from './libsql-schema.ts';
import { extentOf, selectTotals } from './libsql-totals.ts';

interface Retention {
  /** Days that events are kept. */
  readonly days: number;
  readonly log: Logger;
}

/** Events inserted in one transaction: a few milliseconds of the event loop. */
const transactionSize = 1000;
/** Events read at once for sums over a part of a day. */
const readSize = 500;
const hour = 3_600_000;

/** Without a retention events are kept for ever. */
export const openLibsqlLedger = (file: string, retention?: Retention): Ledger => {
  const sqlite = openSqlite(file, schema);
  const attempt = <T>(work: () => T): Promise<T> =>
    whenFree(work, (cause) => fail('unavailable', 'The usage ledger is unavailable', { cause }));

  /** One read per tick of the event loop, however many queries are running. */
  let tick = Promise.resolve();
  const nextTick = (): Promise<void> => {
    tick = tick.then(() => setImmediate());
    return tick;
  };
  const sumUp = async (filter: UsageFilter, into: DaySums): Promise<void> => {
    for (let place = {}; ; ) {
      await nextTick();
      const events = await attempt(() => listEvents(sqlite, filter, { limit: readSize, ...place }));
      for (const event of events) into.add(event);
      const last = events.at(-1);
      if (last === undefined || events.length < readSize) return;
      place = { after: last };
    }
  };

  const sweep = async ({ days, log }: Retention): Promise<void> => {
    const limit = Math.floor(Date.now() / millisecondsOfDay - days) * millisecondsOfDay;
    try {
      // A few at a time, so that the event loop is not blocked.
      while ((await attempt(() => removeBefore(sqlite, limit))) > 0) await setImmediate();
    } catch (error) {
      log.warn({ err: error }, 'ledger retention failed; retried in an hour');
    }
  };
  let sweeping: NodeJS.Timeout | undefined;
  if (retention !== undefined) {
    void sweep(retention);
    sweeping = setInterval(() => void sweep(retention), hour).unref();
  }

  return {
    insert: async (events) => {
      for (let start = 0; start < events.length; start += transactionSize) {
        if (start > 0) await setImmediate();
        const some = events.slice(start, start + transactionSize);
        await attempt(() => insertNew(sqlite, some));
      }
    },
    totals: async (filter, groups, page) => {
      const { days, edges } = extentOf(filter);
      const rest = new DaySums();
      for (const [from, to] of edges) await sumUp({ ...filter, from, to }, rest);
      return attempt(() => selectTotals(sqlite, { ...filter, days, edges: rest.rows() }, groups, page));
    },
    list: (filter, page) => attempt(() => listEvents(sqlite, filter, page)),
    find: (events) => attempt(() => findEvents(sqlite, events)),
    check: () => checkReadable(sqlite, 'usage_blocks', `ledger file ${file}`),
    close: async () => {
      clearInterval(sweeping);
      sqlite.close();
    },
  };
};
