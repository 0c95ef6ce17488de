/** The State port on SQLite: one table of records, with indexes by creation and due time. */
import { fail } from '../../errors.ts';
import type { ListQuery, State, StoredRecord } from '../../ports/state.ts';
import { checkReadable, openSqlite, type SqlValue, whenFree } from '../sqlite.ts';

/** AUTOINCREMENT: a number is never given out twice, so the order of creation outlives removals. */
const schema = `
   CREATE TABLE record (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     kind TEXT NOT NULL,
     id TEXT NOT NULL,
     owner TEXT NOT NULL,
     version INTEGER NOT NULL,
     value TEXT NOT NULL,
     due_group TEXT,
     due REAL,
     UNIQUE (kind, id)
   );
   CREATE INDEX record_by_kind ON record (kind, sequence);
   CREATE INDEX record_by_owner ON record (kind, owner, sequence);
   CREATE INDEX record_by_due ON record (kind, due_group, due, sequence) WHERE due_group IS NOT NULL;`;

const columns = 'id, version, owner, value';
type Columns = [id: string, version: number, owner: string, value: string];

export const openLibsqlState = (file: string): State => {
  const sqlite = openSqlite(file, schema);

  const attempt = <T>(work: () => T): Promise<T> =>
    whenFree(work, (cause) => fail('unavailable', 'The state store is unavailable', { cause }));

  return {
    create: (kind, { id, owner, value, index }) =>
      attempt(() => {
        const changed = sqlite.run(
          `INSERT INTO record (kind, id, owner, version, value, due_group, due)
           VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT (kind, id) DO NOTHING`,
          [kind, id, owner, JSON.stringify(value), index?.group ?? null, index?.due ?? null],
        );
        return changed === 1;
      }),

    get: <T>(kind: string, id: string) =>
      attempt(() => {
        const row = sqlite.get<Columns>(`SELECT ${columns} FROM record WHERE kind = ? AND id = ?`, [
          kind,
          id,
        ]);
        return row === undefined ? undefined : toRecord<T>(row);
      }),

    update: (kind, id, version, { value, index }) =>
      attempt(() => {
        const changed = sqlite.run(
          `UPDATE record SET value = ?, due_group = ?, due = ?, version = version + 1
           WHERE kind = ? AND id = ? AND version = ?`,
          [JSON.stringify(value), index?.group ?? null, index?.due ?? null, kind, id, version],
        );
        return changed === 1;
      }),

    remove: (kind, id, version) =>
      attempt(() => {
        const changed =
          version === undefined
            ? sqlite.run('DELETE FROM record WHERE kind = ? AND id = ?', [kind, id])
            : sqlite.run('DELETE FROM record WHERE kind = ? AND id = ? AND version = ?', [kind, id, version]);
        return changed === 1;
      }),

    list: <T>(kind: string, query: ListQuery) =>
      attempt(() => {
        const { sql, values, reversed } = listing(kind, query);
        const records = sqlite.all<Columns>(sql, values).map(toRecord<T>);
        return reversed ? records.reverse() : records;
      }),

    due: <T>(kind: string, { group, until, limit }: { group: string; until: number; limit: number }) =>
      attempt(() =>
        sqlite
          .all<Columns>(
            `SELECT ${columns} FROM record WHERE kind = ? AND due_group = ? AND due <= ?
             ORDER BY due, sequence LIMIT ?`,
            [kind, group, until, limit],
          )
          .map(toRecord<T>),
      ),

    countDue: (kind, { group, until }) =>
      attempt(() => {
        const [count] = sqlite.get<[number]>(
          'SELECT count(*) FROM record WHERE kind = ? AND due_group = ? AND due <= ?',
          [kind, group, until],
        ) ?? [0];
        return count;
      }),

    check: () => checkReadable(sqlite, 'record', `state file ${file}`),

    close: async () => sqlite.close(),
  };
};

const toRecord = <T>([id, version, owner, value]: Columns): StoredRecord<T> => ({
  id,
  version,
  owner,
  value: JSON.parse(value) as T,
});

/** Comparing with an unknown cursor is comparing with NULL: no row. A lone `before` takes the page that ends there. */
const listing = (kind: string, { owner, after, before, limit, order }: ListQuery) => {
  const reversed = before !== undefined && after === undefined;
  const ascending = (order === 'asc') !== reversed;
  const values: SqlValue[] = [kind];
  const sameListing = owner === undefined ? 'kind = ?' : 'kind = ? AND owner = ?';
  let where = sameListing;
  if (owner !== undefined) values.push(owner);
  const cursor = (id: string, comparison: '<' | '>') => {
    where += ` AND sequence ${comparison} (SELECT sequence FROM record WHERE ${sameListing} AND id = ?)`;
    values.push(kind, ...(owner === undefined ? [] : [owner]), id);
  };
  if (after !== undefined) cursor(after, order === 'asc' ? '>' : '<');
  if (before !== undefined) cursor(before, order === 'asc' ? '<' : '>');
  values.push(limit);
  const direction = ascending ? 'ASC' : 'DESC';
  return {
    sql: `SELECT ${columns} FROM record WHERE ${where} ORDER BY sequence ${direction} LIMIT ?`,
    values,
    reversed,
  };
};
