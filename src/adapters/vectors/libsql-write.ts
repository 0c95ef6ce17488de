/** Writes of the embedded vectors: each a short transaction that records what became visible or was removed. */
import { fail } from '../../errors.ts';
import type { Point } from '../../ports/vectors.ts';
import type { Sqlite } from '../sqlite.ts';
import { direction, ensureSize } from './direction.ts';
import { bytesOf, rememberedChanges } from './libsql-tables.ts';
import { mostDimensions } from './vector-table.ts';

export const createStore = (sqlite: Sqlite, id: string, dimensions: number): void => {
  if (dimensions < 1 || dimensions > mostDimensions)
    throw fail('internal', `Vectors have 1 to ${mostDimensions} dimensions, not ${dimensions}`);
  sqlite.run('INSERT INTO store (id, dimensions, version) VALUES (?, ?, 0) ON CONFLICT (id) DO NOTHING', [
    id,
    dimensions,
  ]);
  const [known] = sqlite.get<[number]>('SELECT dimensions FROM store WHERE id = ?', [id]) ?? [];
  ensureSize(known, dimensions);
};

export const dropStore = (sqlite: Sqlite, id: string): void =>
  sqlite.transaction(() => {
    const [store] = sqlite.get<[number]>('SELECT number FROM store WHERE id = ?', [id]) ?? [];
    if (store === undefined) return;
    sqlite.run('INSERT OR IGNORE INTO doomed SELECT number FROM file WHERE store = ?', [store]);
    sqlite.run('DELETE FROM file WHERE store = ?', [store]);
    sqlite.run('DELETE FROM change WHERE store = ?', [store]);
    sqlite.run('DELETE FROM store WHERE number = ?', [store]);
  });

export const upsert = (sqlite: Sqlite, id: string, points: readonly Point[]): void =>
  sqlite.transaction(() => {
    const { store, dimensions } = storeOf(sqlite, id);
    for (const point of points) {
      ensureSize(dimensions, point.vector.length);
      removeItem(sqlite, store, point.id);
      const [sequence] = sqlite.get<[number]>(
        `INSERT INTO item (store, file, id, place, created, updated, filename, text, description)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING sequence`,
        [
          store,
          fileOf(sqlite, store, point.file),
          point.id,
          point.index,
          point.createdAt,
          point.updatedAt,
          bytesOf(point.filename),
          bytesOf(point.text),
          bytesOf(point.description),
        ],
      ) ?? [0];
      sqlite.run('INSERT INTO vector VALUES (?, ?)', [sequence, numbersOf(point.vector)]);
    }
  });

export const publish = (sqlite: Sqlite, id: string, fileId: string): void =>
  sqlite.transaction(() => {
    const { store } = storeOf(sqlite, id);
    const [file] =
      sqlite.get<[number]>('SELECT number FROM file WHERE store = ? AND id = ?', [store, fileId]) ?? [];
    if (file === undefined) return;
    sqlite.run(
      `UPDATE file SET (published, visible) =
         (SELECT coalesce(max(sequence), 0), count(*) FROM item WHERE file = number)
       WHERE number = ?`,
      [file],
    );
    note(sqlite, store, file);
  });

export const describe = (
  sqlite: Sqlite,
  id: string,
  item: string,
  change: { readonly description: string; readonly vector: Float32Array; readonly updatedAt: number },
): boolean =>
  sqlite.transaction(() => {
    const found = visible(sqlite, id, item);
    if (found === undefined) return false;
    const { store, file, sequence, dimensions } = found;
    ensureSize(dimensions, change.vector.length);
    sqlite.run('UPDATE item SET description = ?, updated = ? WHERE sequence = ?', [
      bytesOf(change.description),
      change.updatedAt,
      sequence,
    ]);
    sqlite.run('UPDATE vector SET numbers = ? WHERE sequence = ?', [numbersOf(change.vector), sequence]);
    note(sqlite, store, file, sequence);
    return true;
  });

export const remove = (sqlite: Sqlite, id: string, item: string): boolean =>
  sqlite.transaction(() => {
    const found = visible(sqlite, id, item);
    if (found === undefined) return false;
    removeItem(sqlite, found.store, item);
    return true;
  });

/** Invisible at once; `sweep` deletes the rows. */
export const removeFile = (sqlite: Sqlite, id: string, fileId: string): void =>
  sqlite.transaction(() => {
    const [store, file] =
      sqlite.get<[number, number]>(
        'SELECT s.number, f.number FROM store s JOIN file f ON f.store = s.number WHERE s.id = ? AND f.id = ?',
        [id, fileId],
      ) ?? [];
    if (store === undefined || file === undefined) return;
    sqlite.run('INSERT OR IGNORE INTO doomed VALUES (?)', [file]);
    sqlite.run('DELETE FROM file WHERE number = ?', [file]);
    note(sqlite, store, file);
  });

/** Deletes some rows without a file; false when there are none. */
export const sweep = (sqlite: Sqlite): boolean => {
  const [file] = sqlite.get<[number]>('SELECT file FROM doomed LIMIT 1') ?? [];
  if (file === undefined) return false;
  sqlite.transaction(() => {
    const some = 'SELECT sequence FROM item WHERE file = ? ORDER BY created, place, id LIMIT 100';
    sqlite.run(`DELETE FROM vector WHERE sequence IN (${some})`, [file]);
    if (sqlite.run(`DELETE FROM item WHERE sequence IN (${some})`, [file]) === 0)
      sqlite.run('DELETE FROM doomed WHERE file = ?', [file]);
  });
  return true;
};

const storeOf = (sqlite: Sqlite, id: string): { store: number; dimensions: number } => {
  const [store, dimensions] =
    sqlite.get<[number, number]>('SELECT number, dimensions FROM store WHERE id = ?', [id]) ?? [];
  if (store === undefined || dimensions === undefined)
    throw fail('not_found', 'The vector store does not exist');
  return { store, dimensions };
};

const fileOf = (sqlite: Sqlite, store: number, id: string): number => {
  sqlite.run('INSERT INTO file (store, id, published, visible) VALUES (?, ?, 0, 0) ON CONFLICT DO NOTHING', [
    store,
    id,
  ]);
  return sqlite.get<[number]>('SELECT number FROM file WHERE store = ? AND id = ?', [store, id])?.[0] ?? 0;
};

const visible = (sqlite: Sqlite, id: string, item: string) => {
  const [store, dimensions, file, sequence] =
    sqlite.get<[number, number, number, number]>(
      `SELECT s.number, s.dimensions, f.number, p.sequence
       FROM store s JOIN item p ON p.store = s.number
         JOIN file f ON f.number = p.file AND p.sequence <= f.published
       WHERE s.id = ? AND p.id = ?`,
      [id, item],
    ) ?? [];
  if (store === undefined || dimensions === undefined || file === undefined || sequence === undefined)
    return undefined;
  return { store, dimensions, file, sequence };
};

/** Visible or not; only the end of a visible one is noted. */
const removeItem = (sqlite: Sqlite, store: number, id: string): void => {
  const [sequence, file] =
    sqlite.get<[number, number]>('SELECT sequence, file FROM item WHERE store = ? AND id = ?', [store, id]) ??
    [];
  if (sequence === undefined || file === undefined) return;
  sqlite.run('DELETE FROM item WHERE sequence = ?', [sequence]);
  sqlite.run('DELETE FROM vector WHERE sequence = ?', [sequence]);
  const wasVisible = sqlite.run('UPDATE file SET visible = visible - 1 WHERE number = ? AND published >= ?', [
    file,
    sequence,
  ]);
  if (wasVisible > 0) note(sqlite, store, file, sequence);
};

/** An item, or all items of a file, have come, changed or gone. */
const note = (sqlite: Sqlite, store: number, file: number, sequence: number | null = null): void => {
  const [version] = sqlite.get<[number]>(
    'UPDATE store SET version = version + 1 WHERE number = ? RETURNING version',
    [store],
  ) ?? [0];
  sqlite.run('INSERT INTO change VALUES (?, ?, ?, ?)', [store, version, file, sequence]);
  sqlite.run('DELETE FROM change WHERE store = ? AND version <= ?', [store, version - rememberedChanges]);
};

const numbersOf = (vector: Float32Array): Uint8Array => new Uint8Array(direction(vector).buffer);
