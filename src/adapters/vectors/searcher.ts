/** Searches the embedded vectors: updates its in-memory tables by what has changed, then scores them. */
import type { Hit } from '../../ports/vectors.ts';
import { openSqlite, type Sqlite } from '../sqlite.ts';
import { Best } from './best.ts';
import {
  type ItemRow,
  itemColumns,
  rememberedChanges,
  schema,
  toItem,
  visibleItems,
} from './libsql-tables.ts';
import { createScan, type Scan } from './similarity-kernel.ts';
import { Slabs } from './slabs.ts';
import { VectorTable } from './vector-table.ts';

export interface SearchTask {
  /** The SQLite file. */
  readonly path: string;
  /** Bytes of vectors to keep in memory at most. */
  readonly memory: number;
  readonly store: string;
  readonly query: Float32Array;
  readonly limit: number;
  readonly minimum?: number;
  readonly file?: string;
}

export type SearchOutcome =
  | { readonly hits: readonly Hit[] }
  /** Those of the store: the query has others. */
  | { readonly dimensions: number }
  | { readonly error: unknown };

type VectorRow = [sequence: number, file: number, id: string, numbers: Uint8Array];

/** Rows read at once. */
const batchSize = 500;
const vectorRows = `SELECT p.sequence, p.file, p.id, v.numbers
  FROM ${visibleItems} JOIN vector v ON v.sequence = p.sequence`;

export class Searcher {
  readonly #sqlite: Sqlite;
  readonly #slabs: Slabs;
  readonly #scan: Scan;
  /** By number of the store; the one used last is last. */
  readonly #tables = new Map<number, VectorTable>();

  constructor(path: string, memory: number) {
    this.#sqlite = openSqlite(path, schema);
    this.#slabs = new Slabs(memory);
    this.#scan = createScan(this.#slabs.memory);
  }

  search(task: SearchTask): SearchOutcome {
    return this.#sqlite.snapshot(() => {
      const [store, dimensions, version] =
        this.#sqlite.get<[number, number, number]>(
          'SELECT number, dimensions, version FROM store WHERE id = ?',
          [task.store],
        ) ?? [];
      if (store === undefined || dimensions === undefined || version === undefined) return { hits: [] };
      if (task.query.length !== dimensions) return { dimensions };
      const best = new Best(task.limit, task.minimum);
      const file = this.#fileOf(store, task.file);
      const table = this.#tableOf(store, dimensions);
      if (this.#update(table, store, version)) table.search(task.query, best, file);
      else this.#readThrough(table, store, task.query, best, file);
      return { hits: this.#hits(best) };
    });
  }

  close(): Promise<void> {
    return this.#sqlite.close();
  }

  /** A file that is not there is one without rows. */
  #fileOf(store: number, id: string | undefined): number | undefined {
    if (id === undefined) return undefined;
    return (
      this.#sqlite.get<[number]>('SELECT number FROM file WHERE store = ? AND id = ?', [store, id])?.[0] ?? -1
    );
  }

  #tableOf(store: number, dimensions: number): VectorTable {
    const table = this.#tables.get(store) ?? new VectorTable(this.#slabs, this.#scan, dimensions);
    this.#tables.delete(store);
    this.#tables.set(store, table);
    return table;
  }

  /** False when the store does not fit, even alone. */
  #update(table: VectorTable, store: number, version: number): boolean {
    if (table.version === version) return true;
    const done =
      table.version < 0 || table.version <= version - rememberedChanges
        ? this.#readAll(table, store)
        : this.#readChanges(table, store);
    if (done) table.version = version;
    else table.clear();
    return done;
  }

  #readAll(table: VectorTable, store: number): boolean {
    table.clear();
    for (const rows of this.#all(store)) if (!this.#putAll(table, rows)) return false;
    return true;
  }

  #readChanges(table: VectorTable, store: number): boolean {
    const changes = this.#sqlite.all<[file: number, sequence: number | null]>(
      'SELECT DISTINCT file, sequence FROM change WHERE store = ? AND version > ?',
      [store, table.version],
    );
    for (const [file, sequence] of changes) {
      if (sequence === null) table.removeFile(file);
      else table.remove(sequence);
    }
    for (const [file, sequence] of changes) {
      const condition = sequence === null ? 'p.file = ?' : 'p.sequence = ?';
      for (const rows of this.#batches(condition, sequence ?? file))
        if (!this.#putAll(table, rows)) return false;
    }
    return true;
  }

  /** Makes room by evicting the least recently searched stores. */
  #putAll(table: VectorTable, rows: readonly VectorRow[]): boolean {
    for (const row of rows)
      while (!table.put(...row)) {
        const [store, oldest] = this.#tables.entries().next().value ?? [];
        if (store === undefined || oldest === undefined || oldest === table) return false;
        oldest.clear();
        this.#tables.delete(store);
      }
    return true;
  }

  /** For a store that does not fit: a part at a time. */
  #readThrough(table: VectorTable, store: number, query: Float32Array, best: Best, file?: number): void {
    for (const rows of this.#all(store)) {
      if (!this.#putAll(table, rows)) throw new Error('There is no memory for a part of the vectors.');
      table.search(query, best, file);
      table.clear();
    }
  }

  *#all(store: number): Generator<readonly VectorRow[]> {
    const files = this.#sqlite.all<[number]>('SELECT number FROM file WHERE store = ? AND visible > 0', [
      store,
    ]);
    for (const [file] of files) yield* this.#batches('p.file = ?', file);
  }

  *#batches(condition: string, value: number): Generator<readonly VectorRow[]> {
    let after = 0;
    for (;;) {
      const rows = this.#sqlite.all<VectorRow>(
        `${vectorRows} WHERE ${condition} AND p.sequence > ? ORDER BY p.sequence LIMIT ${batchSize}`,
        [value, after],
      );
      yield rows;
      if (rows.length < batchSize) return;
      after = rows.at(-1)?.[0] ?? after;
    }
  }

  #hits(best: Best): readonly Hit[] {
    return best.found().flatMap(({ sequence, similarity }) => {
      const row = this.#sqlite.get<ItemRow>(
        `SELECT ${itemColumns} FROM ${visibleItems} WHERE p.sequence = ?`,
        [sequence],
      );
      return row === undefined ? [] : [{ ...toItem(row), similarity }];
    });
  }
}
