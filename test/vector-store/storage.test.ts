/** Tests storage quotas: what is counted, refused and given back, also after a count went wrong. */
import t from 'tap';
import type { UsageList } from '../../schemas/usage.ts';
import type { StorageRecord } from '../../schemas/vector-stores/records.ts';
import type { VectorStoreFile } from '../../schemas/vector-stores/vector-store.ts';
import { Storage } from '../../src/vector-stores/storage.ts';
import { caller, openStorage } from './harness.ts';
import { callsOf, startStores, strangerTo, text } from './stores.ts';

const limits = { bytes: 10_000, files: 3, items: 20 };

t.test('over the socket', async (t) => {
  const stores = await startStores({
    env: {
      SLUICE_STORAGE_BYTES: '10000',
      SLUICE_STORAGE_FILES: '3',
      SLUICE_STORAGE_ITEMS: '20',
    },
  });
  t.teardown(() => stores.gateway.stop());
  const { call, create, add } = stores;
  const storage = async (): Promise<UsageList['storage']> =>
    (await call<UsageList>('GET', '/usage')).body.storage;
  const { id } = await create();
  t.same(await storage(), { bytes: 0, files: 0, items: 0, limits });

  const sentence = 'The moon pulls on the sea. ';
  const first = await add(id, text(sentence, 'a.txt'));
  t.equal(first.status, 201);
  t.same(
    await storage(),
    { bytes: sentence.length, files: 1, items: 1, limits },
    'its own bytes, not the form',
  );

  const large = await add(id, text(sentence.repeat(500), 'b.txt'));
  t.equal(large.status, 413);
  t.match(
    JSON.stringify(large.body),
    /may hold 10000 bytes; with this file they would hold 1\d{4}: delete some first/,
  );
  t.equal((await add(id, text('', 'empty.txt'))).status, 400);
  t.same(
    await storage(),
    { bytes: sentence.length, files: 1, items: 1, limits },
    'a refused file is not counted',
  );

  const other = await create();
  t.equal((await add(other.id, text(sentence, 'c.txt'))).status, 201);
  t.equal((await add(other.id, text(sentence, 'd.txt'))).status, 201);
  const fourth = await add(id, text(sentence, 'e.txt'));
  t.equal(fourth.status, 413);
  t.match(JSON.stringify(fourth.body), /may hold 3 files/);
  t.equal(fourth.headers.get('x-should-retry'), 'false');

  const stranger = callsOf(stores.gateway.url, await strangerTo(stores.gateway));
  const theirs = await stranger.create();
  t.equal((await stranger.add(theirs.id, text(sentence, 'f.txt'))).status, 201, 'others have their own');

  const file = first.body as VectorStoreFile;
  t.equal((await call('DELETE', `/vector_store/${id}/files/${file.id}`)).status, 200);
  t.same(await storage(), { bytes: 2 * sentence.length, files: 2, items: 2, limits });
  t.equal((await call('DELETE', `/vector_store/${other.id}`)).status, 200);
  t.same(await storage(), { bytes: 0, files: 0, items: 0, limits });
});

t.test('counts that went wrong are corrected before anybody is refused', async (t) => {
  const { open, state, newStore, upload, close } = await openStorage();
  t.teardown(close);
  const harness = open(t, { limits });
  const store = await newStore(harness);
  const reservation = await harness.vectorStores.reserve('sub_test', 50);
  await harness.vectorStores.add(store, { ...(await upload('x '.repeat(10))), reservation }, caller);
  t.same((await harness.vectorStores.storage('sub_test')).used, { bytes: 20, files: 1, items: 1 });

  const record = await state.get<StorageRecord>('storage', 'sub_test');
  await state.update('storage', 'sub_test', record?.version ?? 0, {
    value: { used: { bytes: 9_999, files: 3, items: 20 }, uploads: [] },
  });
  const storage = new Storage(state, limits);
  await storage.reserve('sub_test', 100);
  t.same(await storage.used('sub_test'), { bytes: 120, files: 2, items: 1 }, 'the records decide');
  await t.rejects(storage.reserve('sub_test', 9_881), { name: 'ApiError', kind: 'payload_too_large' });
  t.equal(storage.refused, 1);
  await storage.reserve('sub_test', 9_880);
});

t.test('uploads at the same moment never pass the quota together', async (t) => {
  const { state, close } = await openStorage();
  t.teardown(close);
  const storage = new Storage(state, { bytes: 1000, files: 100, items: 1 });
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => storage.reserve('sub', 100)));
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10);
  t.same(await storage.used('sub'), { bytes: 1000, files: 10, items: 0 });
  t.equal(storage.refused, 20);
});
