/** Opens SQLite files; its connection works around the pitfalls of the libsql library. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { Checkpoints } from './sqlite-checkpoints.ts';

/** What may be bound. Nothing else: the library ends the process on a boolean, and on a Buffer that is not in an array. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** Rows are tuples in the order of the selected columns: only so are blobs Buffers everywhere and rows free of extras. */
export type Row = readonly unknown[];

/** How long opening waits for another process that is creating the same file. */
const openPatience = 5_000;
/** How long a statement blocks the event loop for another process's write; past that the caller decides. */
const statementPatience = 20;
/** Pages of 4 KB in the WAL from which on a commit checkpoints by itself: for when background checkpoints do not keep up. */
const longestWal = 16_000;

export class Sqlite {
  readonly #database: Database.Database;
  readonly #checkpoints: Checkpoints;
  readonly #statements = new Map<string, Database.Statement<unknown[]>>();
  #open = true;

  constructor(database: Database.Database, file: string) {
    this.#database = database;
    this.#checkpoints = new Checkpoints(file);
  }

  get<R extends Row>(sql: string, values: readonly SqlValue[] = []): R | undefined {
    return this.#statement(sql).get(values) as R | undefined;
  }

  all<R extends Row>(sql: string, values: readonly SqlValue[] = []): R[] {
    return this.#statement(sql).all(values) as R[];
  }

  /** Gives the number of rows changed. */
  run(sql: string, values: readonly SqlValue[] = []): number {
    const { changes } = this.#statement(sql).run(values);
    if (changes > 0) this.#checkpoints.written();
    return changes;
  }

  /** One write at a time over all processes: nothing read inside can change before the end. */
  transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  /** All reads inside see one and the same state; nobody waits for them. */
  snapshot<T>(work: () => T): T {
    this.#database.exec('BEGIN');
    try {
      return work();
    } finally {
      if (this.#database.inTransaction) this.#database.exec('COMMIT');
    }
  }

  /** Resolves when nothing writes to the file any more. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    await this.#checkpoints.close();
    this.#database.close();
  }

  /** Texts are constants of the code, so the map is bounded by it. */
  #statement(sql: string): Database.Statement<unknown[]> {
    // The library goes on serving prepared statements after close.
    if (!this.#open) throw new Error('The database is closed.');
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      if (statement.reader) statement.raw();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Rejects with one sentence for the operator when the file cannot be read. */
export const checkReadable = async (sqlite: Sqlite, table: string, file: string): Promise<void> => {
  try {
    sqlite.get(`SELECT 1 FROM ${table} LIMIT 1`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The ${file} cannot be read: ${reason}.`, { cause: error });
  }
};

/** Another process holds the write lock: worth trying again. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** How long work tries again while another process writes; the event loop goes on meanwhile. */
const workPatience = 5_000;

/** Work that is synchronous and short: a held lock is waited for; what fails, `refuse` turns into the caller's error. */
export const whenFree = async <T>(work: () => T, refuse: (cause: unknown) => Error): Promise<T> => {
  const deadline = Date.now() + workPatience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw refuse(error);
      await delay(5 + Math.random() * 20);
    }
  }
};

/** Opens or creates the file, its folder and its tables. Fails with one sentence for the operator. */
export const openSqlite = (file: string, schema: string): Sqlite => {
  makeFile(file);
  try {
    const database = connect(file);
    const sqlite = new Sqlite(database, file);
    createTables(database, sqlite, schema);
    database.exec(`PRAGMA busy_timeout = ${statementPatience}`);
    database.exec(`PRAGMA wal_autocheckpoint = ${longestWal}`);
    return sqlite;
  } catch (error) {
    throw new Error(openFailure(file, error), { cause: error });
  }
};

/**
 * WAL: readers never wait for a writer. NORMAL: a commit outlives the death of the process at once, and a power cut
 * costs at most the last moments, never the file; FULL would stop the event loop, and every stream on it, for
 * a disk flush at each commit.
 */
const connect = (file: string): Database.Database => {
  const deadline = Date.now() + openPatience;
  for (;;) {
    try {
      const database = new Database(file, { timeout: openPatience });
      database.exec('PRAGMA journal_mode = WAL');
      database.exec('PRAGMA synchronous = NORMAL');
      return database;
    } catch (error) {
      // The switch to WAL is refused at once, without the busy time-out, while another process makes it too.
      if (!isBusy(error) || Date.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
};

/** The only version of the tables so far. */
const schemaVersion = 1;

const createTables = (database: Database.Database, sqlite: Sqlite, schema: string): void =>
  sqlite.transaction(() => {
    const [version] = sqlite.get<[number]>('PRAGMA user_version') ?? [0];
    if (version > schemaVersion) throw new NewerSchema(version, schemaVersion);
    if (version === 0) database.exec(`${schema} PRAGMA user_version = ${schemaVersion}`);
  });

class NewerSchema extends Error {
  constructor(found: number, known: number) {
    super(`it was written by a newer version (schema ${found}, this one knows ${known})`);
  }
}

/** What lies here opens doors (the secrets of webhooks): folder and file are the owner's alone. */
const makeFile = (file: string): void => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const found = statSync(file, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw new Error('it is not a file');
    if (found !== undefined) accessSync(file, constants.R_OK | constants.W_OK);
    else closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Another process was quicker. An existing file is never opened here: closing it would end SQLite's own locks.
    if (codeOf(error) === 'EEXIST' && existsSync(file)) return;
    throw new Error(`Cannot write ${file}: ${reasonOf(error)}.`, { cause: error });
  }
};

const openFailure = (file: string, error: unknown): string => {
  if (error instanceof NewerSchema) return `Cannot use ${file}: ${error.message}.`;
  if (codeOf(error) === 'SQLITE_NOTADB') return `Cannot use ${file}: it is not a SQLite database.`;
  if (codeOf(error) === 'SQLITE_READONLY') return `Cannot use ${file}: it is not writable.`;
  if (isBusy(error))
    return `Cannot use ${file}: another process has kept it locked for ${openPatience / 1000} s.`;
  return `Cannot use ${file}: ${reasonOf(error)}.`;
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** Node adds the call and the path to its words: ours name the path already. */
const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split(', ', 1)[0] ?? '';
