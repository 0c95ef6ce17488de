/** The Vectors port on SQLite: exact search on a worker thread that keeps vectors in memory. */
import { setImmediate } from 'node:timers/promises';
import { ApiError, fail } from '../../errors.ts';
import { Pool } from '../../offload/pool.ts';
import type { ItemPage, Vectors } from '../../ports/vectors.ts';
import type { DiskReserve } from '../disk-reserve.ts';
import { checkReadable, openSqlite, type Sqlite, type SqlValue, whenFree } from '../sqlite.ts';
import { direction, ensureSize } from './direction.ts';
import { type ItemRow, itemColumns, schema, toItem, visibleItems } from './libsql-tables.ts';
import {
  createStore,
  describe,
  dropStore,
  publish,
  remove,
  removeFile,
  sweep,
  upsert,
} from './libsql-write.ts';
import type { SearchOutcome, SearchTask } from './searcher.ts';

interface LibsqlVectorsOptions {
  /** Bytes of vectors that the searching thread keeps; stores that do not fit are read through at each search. */
  readonly memory?: number;
  /** Absent: the disk may be filled. */
  readonly reserve?: Pick<DiskReserve, 'ensure'>;
}

/** Points of one transaction: a few milliseconds of the event loop. */
const transactionSize = 50;
const mebibyte = 1024 * 1024;

export const openLibsqlVectors = (
  file: string,
  { memory = 512 * mebibyte, reserve }: LibsqlVectorsOptions = {},
): Vectors => {
  const sqlite = openSqlite(file, schema);
  const pool = new Pool({
    entry: new URL(`./search-thread.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
    workers: 1,
    maxQueued: 1_000,
    maxQueuedBytes: 64 * mebibyte,
    maxWait: 10_000,
    idle: 600_000,
    heapMegabytes: 512,
  });

  const attempt = <T>(work: () => T): Promise<T> => whenFree(work, refusal);

  const sweepAll = async (): Promise<void> => {
    while (await attempt(() => sweep(sqlite))) await setImmediate();
  };

  return {
    create: (store, dimensions) => attempt(() => createStore(sqlite, store, dimensions)),
    drop: async (store) => {
      await attempt(() => dropStore(sqlite, store));
      await sweepAll();
    },
    upsert: async (store, points) => {
      for (let start = 0; start < points.length; start += transactionSize) {
        if (start > 0) await setImmediate();
        const some = points.slice(start, start + transactionSize);
        await reserve?.ensure(
          some.reduce((sum, { text, vector }) => sum + text.length + vector.byteLength, 0),
        );
        await attempt(() => upsert(sqlite, store, some));
      }
    },
    publish: (store, file) => attempt(() => publish(sqlite, store, file)),
    get: (store, id) =>
      attempt(() => {
        const row = sqlite.get<ItemRow>(
          `SELECT ${itemColumns} FROM ${visibleItems}
           WHERE p.store = (SELECT number FROM store WHERE id = ?) AND p.id = ?`,
          [store, id],
        );
        return row && toItem(row);
      }),
    list: (store, page) => attempt(() => list(sqlite, store, page)),
    count: (store) =>
      attempt(() => {
        const [count] = sqlite.get<[number]>(
          'SELECT coalesce(sum(visible), 0) FROM file WHERE store = (SELECT number FROM store WHERE id = ?)',
          [store],
        ) ?? [0];
        return count;
      }),
    describe: (store, id, change) => attempt(() => describe(sqlite, store, id, change)),
    remove: (store, id) => attempt(() => remove(sqlite, store, id)),
    removeFile: async (store, file) => {
      await attempt(() => removeFile(sqlite, store, file));
      await sweepAll();
    },
    search: async (store, query, options) => {
      const unit = direction(query);
      const task: SearchTask = { path: file, memory, store, query: unit, ...options };
      const outcome = await searched(pool, task, unit.buffer);
      if ('error' in outcome) throw refusal(outcome.error);
      if ('dimensions' in outcome) ensureSize(outcome.dimensions, query.length);
      return 'hits' in outcome ? outcome.hits : [];
    },
    check: () => checkReadable(sqlite, 'store', `vectors file ${file}`),
    close: async () => {
      await pool.close();
      await sqlite.close();
    },
  };
};

const refusal = (cause: unknown): Error =>
  cause instanceof ApiError && cause.kind !== 'unavailable'
    ? cause
    : fail('unavailable', 'The vector store is unavailable', { cause });

const searched = async (pool: Pool, task: SearchTask, moved: ArrayBuffer): Promise<SearchOutcome> => {
  try {
    const outcome = await pool.run({
      task,
      transfer: [moved],
      bytes: moved.byteLength,
      subscription: task.store,
      timeout: 60_000,
    });
    return outcome as SearchOutcome;
  } catch (error) {
    throw refusal(error);
  }
};

/** The cursor and the file are looked up first, so that the index is read from the exact position. */
const list = (sqlite: Sqlite, id: string, { after, limit, order, file }: ItemPage) => {
  const [store] = sqlite.get<[number]>('SELECT number FROM store WHERE id = ?', [id]) ?? [];
  if (store === undefined) return [];
  const values: SqlValue[] = [store];
  let where = 'p.store = ?';
  if (file !== undefined) {
    const known = sqlite.get<[number]>('SELECT number FROM file WHERE store = ? AND id = ?', [store, file]);
    if (known === undefined) return [];
    where += ' AND p.file = ?';
    values.push(...known);
  }
  if (after !== undefined) {
    const place = sqlite.get<[number, number, string]>(
      `SELECT p.created, p.place, p.id FROM ${visibleItems} WHERE p.store = ? AND p.id = ?`,
      [store, after],
    );
    if (place === undefined) return [];
    where += ` AND (p.created, p.place, p.id) ${order === 'asc' ? '>' : '<'} (?, ?, ?)`;
    values.push(...place);
  }
  const sorting = order === 'asc' ? 'ASC' : 'DESC';
  return sqlite
    .all<ItemRow>(
      `SELECT ${itemColumns} FROM ${visibleItems} WHERE ${where}
       ORDER BY p.created ${sorting}, p.place ${sorting}, p.id ${sorting} LIMIT ?`,
      [...values, limit],
    )
    .map(toItem);
};
