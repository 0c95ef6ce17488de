/** Tests that SQLite files are checkpointed off the event loop, and lose nothing by it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { openSqlite, type Sqlite } from '../../src/adapters/sqlite.ts';
import { eventually, patiently } from '../eventually.ts';

const schema = 'CREATE TABLE row (number INTEGER PRIMARY KEY, value BLOB);';
const megabyte = 1024 * 1024;

/** In one transaction. */
const write = (sqlite: Sqlite, megabytes: number): void =>
  sqlite.transaction(() => {
    for (let row = 0; row < megabytes * 256; row++)
      sqlite.run('INSERT INTO row (value) VALUES (?)', [Buffer.alloc(4000, row)]);
  });

const rowsOf = (sqlite: Sqlite): number => sqlite.get<[number]>('SELECT count(*) FROM row')?.[0] ?? 0;

t.test('what was written reaches the file itself, and the WAL restarts', async (t) => {
  const file = join(t.testdir(), 'some.db');
  const sqlite = openSqlite(file, schema);
  const rounds = 6;
  for (let round = 1; round <= rounds; round++) {
    write(sqlite, 8);
    t.ok(statSync(file).size < (8 * round - 7) * megabyte, 'a commit does not wait for it');
    await eventually(() => statSync(file).size > 8 * round * megabyte);
    // The file has its new size a little before all is copied.
    await delay(patiently(100));
  }
  t.ok(statSync(`${file}-wal`).size < 4 * 8 * megabyte);
  t.equal(rowsOf(sqlite), rounds * 8 * 256);
  await sqlite.close();
  const [verdict] = openSqlite(file, schema).get<[string]>('PRAGMA integrity_check') ?? [];
  t.equal(verdict, 'ok');
});

t.test('a file may be closed at any time', async (t) => {
  const folder = t.testdir();
  await Promise.all(
    [0, 990, 1000, 1005, 1010, 1020, 1100].map(async (after) => {
      const file = join(folder, `${after}.db`);
      const sqlite = openSqlite(file, schema);
      write(sqlite, 2);
      await delay(after);
      await sqlite.close();
      const again = openSqlite(file, schema);
      t.equal(rowsOf(again), 2 * 256);
      await again.close();
    }),
  );
});
