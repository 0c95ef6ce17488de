/** Tests the State port on SQLite. */
import { mkdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { openLibsqlState } from '../../src/adapters/state/libsql.ts';
import { openState } from '../../src/adapters/state/open.ts';
import { stateContract } from '../contracts/state.ts';

t.test('contract', async (t) => {
  const file = join(t.testdir(), 'data', 'state.db');
  await stateContract(t, () => openLibsqlState(file));
});

t.test('the folder is created, and only the owner can access the file', async (t) => {
  const dataDir = join(t.testdir(), 'deep', 'data');
  const state = await openState({ dataDir, redis: undefined });
  await state.close();
  t.equal((await stat(dataDir)).mode & 0o777, 0o700);
  t.equal((await stat(join(dataDir, 'state.db'))).mode & 0o777, 0o600);
});

t.test('an invalid store is refused with one sentence', async (t) => {
  const folder = t.testdir({ file: 'not a folder', 'text.db': 'no database '.repeat(500) });
  mkdirSync(join(folder, 'folder.db'));
  t.throws(() => openLibsqlState(join(folder, 'text.db')), {
    message: `Cannot use ${folder}/text.db: it is not a SQLite database.`,
  });
  t.throws(() => openLibsqlState(join(folder, 'folder.db')), {
    message: `Cannot write ${folder}/folder.db: it is not a file.`,
  });
  t.throws(() => openLibsqlState(join(folder, 'file', 'state.db')), {
    message: /^Cannot write .*file\/state\.db: E[A-Z]+: [a-z ]+\.$/,
  });
});

t.test('a file of a newer version is not changed', async (t) => {
  const file = join(t.testdir(), 'state.db');
  await openLibsqlState(file).close();
  const database = new Database(file);
  database.exec('PRAGMA user_version = 99');
  database.close();
  t.throws(() => openLibsqlState(file), {
    message: `Cannot use ${file}: it was written by a newer version (schema 99, this one knows 1).`,
  });
});

t.test('a write waits for another process’s write without stopping the event loop', async (t) => {
  const file = join(t.testdir(), 'state.db');
  const state = openLibsqlState(file);
  t.teardown(() => state.close());
  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  const created = state.create('kind', { id: 'a', owner: 'o', value: 1 });
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  t.equal(await state.get('kind', 'a'), undefined, 'readers do not wait');
  other.exec('COMMIT');
  other.close();
  t.equal(await created, true);
});

t.test('corruption found later is a 503 with its cause', async (t) => {
  const file = join(t.testdir(), 'state.db');
  const state = openLibsqlState(file);
  t.teardown(() => state.close());
  const other = new Database(file);
  other.exec('DROP TABLE record');
  other.close();
  await t.rejects(state.get('kind', 'a'), { kind: 'unavailable', message: 'The state store is unavailable' });
  await t.rejects(state.check(), { message: /^The state file .* cannot be read: no such table: record\.$/ });
});
