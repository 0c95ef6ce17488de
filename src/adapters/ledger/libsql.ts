/** The ledger in a SQLite file of the data folder: events in blocks of what came together, their ids, and sums by day beside them. */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import { fail } from '../../errors.ts';
import type { Ledger, UsageFilter } from '../../ports/ledger.ts';
import { openSqlite, whenFree } from '../sqlite.ts';
import { DaySums, millisecondsOfDay } from './day-sums.ts';
import { findEvents, listEvents, removeBefore } from './libsql-blocks.ts';
import { Counted } from './libsql-counted.ts';
import { insertNew, portions } from './libsql-insert.ts';
import { migrations } from './libsql-migrations.ts';
import { extentOf, selectTotals } from './libsql-totals.ts';

export interface Retention {
  /** Days that events are kept. */
  readonly days: number;
  readonly log: Logger;
}

/** Events read at once for sums over a part of a day. */
const stretch = 500;
const hour = 3_600_000;

/** Without a retention events are kept for ever. */
export const openLibsqlLedger = (file: string, retention?: Retention): Ledger => {
  const sqlite = openSqlite(file, migrations);
  const counted = new Counted(sqlite);
  const attempt = <T>(work: () => T): Promise<T> =>
    whenFree(work, (cause) => fail('unavailable', 'The usage ledger is unavailable', { cause }));

  /** One stretch in a turn of the event loop, however many ask. */
  let turn = Promise.resolve();
  const nextTurn = (): Promise<void> => {
    turn = turn.then(() => setImmediate());
    return turn;
  };
  const sumUp = async (filter: UsageFilter, into: DaySums): Promise<void> => {
    for (let place = {}; ; ) {
      await nextTurn();
      const events = await attempt(() => listEvents(sqlite, filter, { limit: stretch, ...place }));
      for (const event of events) into.add(event);
      const last = events.at(-1);
      if (last === undefined || events.length < stretch) return;
      place = { after: last };
    }
  };

  const sweep = async ({ days, log }: Retention): Promise<void> => {
    const limit = Math.floor(Date.now() / millisecondsOfDay - days) * millisecondsOfDay;
    try {
      // A few at a time, so that the event loop goes on.
      while ((await attempt(() => removeBefore(sqlite, counted, limit))) > 0) await setImmediate();
    } catch (error) {
      log.warn({ err: error }, 'ledger: old events could not be removed; tried again in an hour');
    }
  };
  let sweeping: NodeJS.Timeout | undefined;
  if (retention !== undefined) {
    void sweep(retention);
    sweeping = setInterval(() => void sweep(retention), hour).unref();
  }

  return {
    insert: async (events) => {
      for (const [index, some] of portions(events).entries()) {
        if (index > 0) await setImmediate();
        await attempt(() => insertNew(sqlite, counted, some));
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
    check: async () => {
      try {
        sqlite.get('SELECT 1 FROM usage_blocks LIMIT 1');
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`The ledger file ${file} cannot be read: ${reason}.`, { cause: error });
      }
    },
    close: async () => {
      clearInterval(sweeping);
      sqlite.close();
    },
  };
};
