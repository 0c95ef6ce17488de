/** Tests the Vectors port on SQLite, and the memory of its search. */
import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import t from 'tap';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { Best } from '../../src/adapters/vectors/best.ts';
import { openLibsqlVectors } from '../../src/adapters/vectors/libsql.ts';
import { schema } from '../../src/adapters/vectors/libsql-tables.ts';
import { dropStore, removeFile } from '../../src/adapters/vectors/libsql-write.ts';
import { openVectors } from '../../src/adapters/vectors/open.ts';
import { createScan } from '../../src/adapters/vectors/similarity-kernel.ts';
import { Slabs, slabBytes } from '../../src/adapters/vectors/slabs.ts';
import { VectorTable } from '../../src/adapters/vectors/vector-table.ts';
import type { Point } from '../../src/ports/vectors.ts';
import { vectorsContract } from '../contracts/vectors.ts';
import { createModelVectors } from '../contracts/vectors-model.ts';

t.test('contract', async (t) => {
  const file = join(t.testdir(), 'data', 'vectors.db');
  await vectorsContract(t, () => openLibsqlVectors(file));
});

t.test('contract, with very little memory', async (t) => {
  const file = join(t.testdir(), 'vectors.db');
  await vectorsContract(t, () => openLibsqlVectors(file, { memory: 2 * slabBytes }), { histories: 10 });
});

/** Numbers that look random and are always the same. */
const numbersFrom = (seed: number, length: number): Float32Array => {
  let state = seed * 2_654_435_761 + 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
};

const somePoints = (count: number, dimensions: number, file = 'file-1'): Point[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `item_${file}_${index}`,
    file,
    filename: 'a.txt',
    index,
    text: 'text',
    description: '',
    createdAt: 1,
    updatedAt: 1,
    vector: numbersFrom(index, dimensions),
  }));

t.test(
  'stores larger than the cache, and stores that evict each other, are searched as exactly',
  async (t) => {
    const vectors = openLibsqlVectors(join(t.testdir(), 'vectors.db'), { memory: 3 * slabBytes });
    t.teardown(() => vectors.close());
    const model = createModelVectors();
    for (const [store, count] of [
      ['small', 300],
      ['other', 900],
      ['large', 2_500],
    ] as const)
      for (const each of [vectors, model]) {
        await each.create(store, 60);
        await each.upsert(store, somePoints(count, 60));
        await each.publish(store, 'file-1');
      }
    for (let round = 0; round < 3; round++)
      for (const store of ['small', 'other', 'large', 'small']) {
        const query = numbersFrom(1_000 + round, 60);
        const [found, expected] = [
          await vectors.search(store, query, { limit: 20 }),
          await model.search(store, query, { limit: 20 }),
        ];
        t.strictSame(
          found.map(({ id }) => id),
          expected.map(({ id }) => id),
        );
        const largest = Math.max(
          ...found.map((hit, rank) => Math.abs(hit.similarity - (expected[rank]?.similarity ?? 0))),
        );
        t.ok(largest < 1e-6, 'to the width of a float');
      }
  },
);

t.test('a reader that missed too many changes reloads everything', async (t) => {
  const file = join(t.testdir(), 'vectors.db');
  const [reader, writer] = [openLibsqlVectors(file), openLibsqlVectors(file)];
  t.teardown(() => Promise.all([reader.close(), writer.close()]));
  await writer.create('vs', 4);
  await writer.upsert('vs', somePoints(3, 4));
  await writer.publish('vs', 'file-1');
  t.equal((await reader.search('vs', Float32Array.of(1, 0, 0, 0), { limit: 9 })).length, 3);
  await writer.remove('vs', 'item_file-1_0');
  for (let turn = 0; turn < 1_050; turn++)
    await writer.describe('vs', 'item_file-1_1', {
      description: String(turn),
      vector: Float32Array.of(0, 1, 0, turn),
      updatedAt: turn,
    });
  const hits = await reader.search('vs', Float32Array.of(0, 1, 0, 1_049), { limit: 9 });
  t.match(hits, [{ id: 'item_file-1_1', description: '1049' }, { id: 'item_file-1_2' }]);
  t.equal(hits.length, 2);
});

t.test('an interrupted removal is completed by the next', async (t) => {
  const file = join(t.testdir(), 'vectors.db');
  const vectors = openLibsqlVectors(file);
  t.teardown(() => vectors.close());
  for (const store of ['one', 'two']) {
    await vectors.create(store, 4);
    await vectors.upsert(store, [...somePoints(250, 4), ...somePoints(5, 4, 'file-2')]);
    await vectors.publish(store, 'file-1');
  }
  const sqlite = openSqlite(file, schema);
  t.teardown(() => sqlite.close());
  removeFile(sqlite, 'one', 'file-1');
  dropStore(sqlite, 'two');
  t.equal(await vectors.count('one'), 0);
  await vectors.upsert('one', somePoints(1, 4));
  await vectors.publish('one', 'file-1');
  t.equal(await vectors.count('one'), 1, 'the same ids may come again before');
  await vectors.removeFile('one', 'file-2');
  t.equal(await vectors.count('one'), 1);
  await vectors.drop('one');
  const left = ['store', 'file', 'item', 'vector', 'change', 'doomed'].map(
    (table) => sqlite.get<[number]>(`SELECT count(*) FROM ${table}`)?.[0],
  );
  t.strictSame(left, [0, 0, 0, 0, 0, 0]);
});

t.test('a large search does not block the event loop', async (t) => {
  const vectors = openLibsqlVectors(join(t.testdir(), 'vectors.db'));
  t.teardown(() => vectors.close());
  await vectors.create('vs', 512);
  await vectors.upsert('vs', somePoints(4_000, 512));
  await vectors.publish('vs', 'file-1');
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  t.equal((await vectors.search('vs', numbersFrom(1, 512), { limit: 5 }))[0]?.id, 'item_file-1_1');
  isOver = true;
  t.ok(turns > 10, `${turns} turns meanwhile`);
});

t.test('only the owner can access folder and file; unreadable files are reported', async (t) => {
  const dataDir = join(t.testdir(), 'deep', 'data');
  const config = { dataDir, qdrant: undefined };
  const vectors = await openVectors(config);
  t.teardown(() => vectors.close());
  t.equal((await stat(join(dataDir, 'vectors.db'))).mode & 0o777, 0o600);
  await vectors.create('vs', 4);
  const other = new Database(join(dataDir, 'vectors.db'));
  other.exec('ALTER TABLE store RENAME TO gone');
  other.close();
  const away = { name: 'ApiError', kind: 'unavailable', message: 'The vector store is unavailable' };
  await t.rejects(vectors.get('vs', 'a'), away);
  await t.rejects(vectors.search('vs', Float32Array.of(1, 0, 0, 0), { limit: 1 }), away);
  await t.rejects(vectors.check(), {
    message: /^The vectors file .*vectors\.db cannot be read: no such table: store\.$/,
  });
  await t.rejects(openVectors(config), { message: /^The vectors file .* cannot be read: .*\.$/ });
});

t.test('vectors too large to search are refused', async (t) => {
  const vectors = openLibsqlVectors(join(t.testdir(), 'vectors.db'));
  t.teardown(() => vectors.close());
  for (const dimensions of [0, 40_000])
    await t.rejects(vectors.create('vs', dimensions), { name: 'ApiError', kind: 'internal' });
  await vectors.create('vs', 20_000);
  await vectors.upsert('vs', somePoints(5, 20_000));
  await vectors.publish('vs', 'file-1');
  const [first] = await vectors.search('vs', numbersFrom(3, 20_000), { limit: 1 });
  t.equal(first?.id, 'item_file-1_3');
});

t.test('rows in memory: any history of puts and removals gives the same scores', () => {
  const step = fc.oneof(
    fc.record({ put: fc.nat(60), file: fc.nat(3), seed: fc.nat(1_000) }),
    fc.record({ remove: fc.nat(60) }),
    fc.record({ removeFile: fc.nat(3) }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(1, 3, 16, 17, 100, 20_000),
      fc.array(step, { maxLength: 120 }),
      (dimensions, steps) => {
        const slabs = new Slabs(64 * slabBytes);
        const table = new VectorTable(slabs, createScan(slabs.memory), dimensions);
        const model = new Map<number, { file: number; numbers: Float32Array }>();
        for (const each of steps)
          if ('put' in each) {
            const numbers = numbersFrom(each.seed, dimensions);
            assert(table.put(each.put, each.file, `id${each.put}`, new Uint8Array(numbers.buffer)));
            model.set(each.put, { file: each.file, numbers });
          } else if ('remove' in each) {
            table.remove(each.remove);
            model.delete(each.remove);
          } else {
            table.removeFile(each.removeFile);
            for (const [sequence, { file }] of [...model])
              if (file === each.removeFile) model.delete(sequence);
          }
        assert.equal(table.size, model.size);
        const query = numbersFrom(7, dimensions).map((number) => number / dimensions);
        const best = new Best(100);
        table.search(query, best);
        assert.equal(best.found().length, model.size);
        for (const { sequence, id, similarity } of best.found()) {
          assert.equal(id, `id${sequence}`);
          const { numbers } = model.get(sequence) ?? { numbers: new Float32Array() };
          const product = numbers.reduce((sum, number, index) => sum + number * (query[index] ?? 0), 0);
          assert(Math.abs(similarity - product) < 1e-5, `${similarity} ${product}`);
        }
        const ofFile = new Best(100);
        table.search(query, ofFile, 1);
        assert.equal(ofFile.found().length, [...model.values()].filter(({ file }) => file === 1).length);
      },
    ),
    { numRuns: 40 },
  );
  return Promise.resolve();
});
