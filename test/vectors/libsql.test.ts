/** The Vectors port on SQLite. */
import { join } from 'node:path';
import t from 'tap';
import { openLibsqlVectors } from '../../src/adapters/vectors/libsql.ts';
import { vectorsContract } from '../contracts/vectors.ts';

t.test('contract', async (t) => {
  const file = join(t.testdir(), 'data', 'vectors.db');
  await vectorsContract(t, () => openLibsqlVectors(file));
});
