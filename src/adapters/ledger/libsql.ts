/** The embedded ledger: a SQLite file with blocks of events, their ids, and sums by day. */
import { setImmediate } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import { fail } from '../../errors.ts';
import type { EventPage, Ledger, UsageFilter } from '../../ports/ledger.ts';
import { checkReadable, openSqlite, whenFree } from '../sqlite.ts';
import { DaySums, millisecondsOfDay } from './day-sums.ts';
import { daysWith, findEvents, listEvents, removeBefore } from './libsql-blocks.ts';
import { insertNew } from './libsql-insert.ts';
import { schema } from './libsql-schema.ts';
import { type Extent, extentOf, selectTotals } from './libsql-totals.ts';

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
      for (const event of events) if (isNamed(filter, event)) into.add(event);
      const last = events.at(-1);
      if (last === undefined || events.length < readSize) return;
      place = { after: last };
    }
  };

  /** Days without such events are passed over; of the others, one read per tick of the event loop. */
  const listNamed = async (filter: UsageFilter, page: EventPage): Promise<readonly UsageEvent[]> => {
    const found: UsageEvent[] = [];
    const days = await attempt(() => daysWith(sqlite, filter, page.order));
    for (const day of days) {
      const [from, to] = [day * millisecondsOfDay, (day + 1) * millisecondsOfDay];
      const within = { ...filter, from: Math.max(filter.from, from), to: Math.min(filter.to, to) };
      for (let place: EventPage = { ...page, limit: readSize }; ; ) {
        await nextTick();
        const events = await attempt(() => listEvents(sqlite, within, place));
        for (const event of events) if (isNamed(filter, event)) found.push(event);
        if (found.length >= page.limit) return found.slice(0, page.limit);
        const last = events.at(-1);
        if (last === undefined || events.length < readSize) break;
        place = { ...place, after: last };
      }
    }
    return found;
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
      const all = [...events];
      for (let start = 0; start < all.length; start += transactionSize) {
        if (start > 0) await setImmediate();
        const some = all.slice(start, start + transactionSize);
        await attempt(() => insertNew(sqlite, some));
      }
    },
    totals: async (filter, groups, page) => {
      const { days, edges } = groups.includes('hour') ? allOf(filter) : extentOf(filter);
      const span = groups.includes('hour') ? hour : millisecondsOfDay;
      const rest = new DaySums(span);
      for (const [from, to] of edges) await sumUp({ ...filter, from, to }, rest);
      const totals = { filter, days, edges: rest.rows(), spanSeconds: span / 1000 };
      return attempt(() => selectTotals(sqlite, totals, groups, page));
    },
    list: (filter, page) =>
      filter.key === undefined && filter.model === undefined && filter.route === undefined
        ? attempt(() => listEvents(sqlite, filter, page))
        : listNamed(filter, page),
    find: (events) => attempt(() => findEvents(sqlite, events)),
    check: () => checkReadable(sqlite, 'usage_blocks', `ledger file ${file}`),
    close: async () => {
      clearInterval(sweeping);
      await sqlite.close();
    },
  };
};

/** Blocks are by subscription; what else a filter names is looked for in the events. */
const isNamed = ({ key, model, route }: UsageFilter, event: UsageEvent): boolean =>
  (key === undefined || event.key === key) &&
  (model === undefined || event.model === model) &&
  (route === undefined || event.route === route);

/** Sums are kept by day: those by hour are made of the events. */
const allOf = ({ from, to }: UsageFilter): Extent => ({
  days: [0, 0],
  edges: from < to ? [[from, to]] : [],
});
