/** Tests ingestion: atomic and billed once, through crashes, failures and deletions. */
import t from 'tap';
import { fail } from '../../src/errors.ts';
import type { EmbedBatch } from '../../src/vector-stores/ingest-file.ts';
import { eventually } from '../eventually.ts';
import { batch, caller, embedding, ended, openStorage } from './harness.ts';

const storage = await openStorage();
t.teardown(storage.close);

/** So many items, each of its own. */
const itemTexts = (count: number, subject = 'tide'): string =>
  Array.from({ length: count }, (_, at) => `${subject} ${at} ${'water '.repeat(80)}`).join('\n\n');

const words = (texts: readonly { readonly text: string }[]): readonly string[] =>
  texts.map(({ text }) => text.split(' ').slice(0, 2).join(' '));

/** Blocks at the batch of that number until released. */
const gate = (number: number) => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, wait: ({ id }: EmbedBatch) => (id.endsWith(`_${number}`) ? opened : undefined) };
};

t.test('a file is not found before all of it is indexed', async (t) => {
  const harness = storage.open(t, { waitMs: 1 });
  const store = await storage.newStore(harness);
  const last = gate(2);
  harness.before = last.wait;
  const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(20)), caller);
  t.equal(file.status, 'in_progress');
  await eventually(async () => harness.batches.length === 3, 'the third batch');
  const search = () => harness.vectorStores.search(store, [embedding('tide 3')], { limit: 50 });
  t.same(await search(), []);
  t.same(await harness.vectorStores.items(store, { limit: 50, order: 'asc' }), []);
  t.match(await harness.vectorStores.view(store), { files: { inProgress: 1, completed: 0 }, items: 0 });
  last.open();
  const view = await ended(harness, store, file.id);
  t.match(view, { file: { status: 'completed', items: 20 } });
  t.equal(view.items.length, 20);
  t.equal((await search()).length, 20);
  t.same(
    harness.batches.map(({ id, texts }) => [id, texts.length]),
    [
      [`${file.id}_0`, batch],
      [`${file.id}_1`, batch],
      [`${file.id}_2`, 4],
    ],
  );
  await eventually(async () => (await storage.left(store.id)).length === 2, 'the end of the work');
  t.same(await storage.left(store.id), [store.id, file.id]);
  t.equal(await storage.blobs.stat(`uploads/${file.id}`), undefined);
});

t.test('another process resumes after a crash, and repeats no stored batch', async (t) => {
  const first = storage.open(t, { waitMs: 1, leaseMs: 1000 });
  const store = await storage.newStore(first);
  first.before = gate(2).wait;
  const { file } = await first.vectorStores.add(store, await storage.upload(itemTexts(30)), caller);
  await eventually(async () => first.batches.length === 3, 'the third batch');
  first.crash();
  const second = storage.open(t);
  const view = await ended(second, store, file.id);
  t.match(view, { file: { status: 'completed', items: 30 } });
  t.same(
    second.batches.map(({ id }) => id),
    [`${file.id}_2`, `${file.id}_3`],
    'under the same ids',
  );
  const items = await second.vectorStores.items(store, { limit: 50, order: 'asc' });
  t.same(
    words(items),
    Array.from({ length: 30 }, (_, at) => `tide ${at}`),
  );
});

t.test('a graceful stop hands over at once', async (t) => {
  const first = storage.open(t, { waitMs: 1, leaseMs: 600_000 });
  const store = await storage.newStore(first);
  first.before = gate(1).wait;
  const { file } = await first.vectorStores.add(store, await storage.upload(itemTexts(20)), caller);
  await eventually(async () => first.batches.length === 2, 'the second batch');
  await first.vectorStores.close();
  const second = storage.open(t, { leaseMs: 600_000 });
  t.match(await ended(second, store, file.id), { file: { status: 'completed', items: 20 } });
  t.same(
    second.batches.map(({ id }) => id),
    [`${file.id}_1`, `${file.id}_2`],
  );
});

t.test('two processes never process the same file', async (t) => {
  const harnesses = [storage.open(t, { waitMs: 1 }), storage.open(t, { waitMs: 1 })] as const;
  const store = await storage.newStore(harnesses[0]);
  for (const harness of harnesses) harness.before = () => new Promise((resolve) => setTimeout(resolve, 30));
  const files = await Promise.all(
    harnesses.flatMap((harness) =>
      [1, 2, 3].map(async () => harness.vectorStores.add(store, await storage.upload(itemTexts(40)), caller)),
    ),
  );
  for (const { file } of files)
    t.match(await ended(harnesses[0], store, file.id), { file: { status: 'completed' } });
  const ids = harnesses.flatMap(({ batches }) => batches.map(({ id }) => id));
  t.equal(new Set(ids).size, ids.length, 'each batch was embedded once');
  t.equal(await storage.vectors.count(store.id), 240);
});

t.test('transient failures are retried; the request reports progress', async (t) => {
  const harness = storage.open(t);
  const store = await storage.newStore(harness);
  let failures = 3;
  harness.before = () => {
    if (failures-- > 0) throw fail('unavailable', 'The model is busy');
  };
  const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(3)), caller);
  t.equal(file.status, 'in_progress');
  t.match(await ended(harness, store, file.id), { file: { status: 'completed', items: 3 } });
  t.same(
    harness.batches.map(({ id }) => id),
    Array.from({ length: 4 }, () => `${file.id}_0`),
  );
});

t.test('permanent failures are reported, and the items are removed', async (t) => {
  const harness = storage.open(t, { retryMs: 0 });
  const store = await storage.newStore(harness);
  harness.before = ({ id }) => {
    if (id.endsWith('_1')) throw fail('engine_unreachable', 'The model is away\nwith a secret');
  };
  const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(12)), caller);
  t.equal(file.status, 'in_progress');
  const view = await ended(harness, store, file.id);
  t.match(view, {
    file: { status: 'failed', items: 0, error: { code: 'server_error', message: 'The model is away' } },
  });
  t.equal(harness.batches.filter(({ id }) => id.endsWith('_0')).length, 1, 'what was kept is not repeated');
  t.match(await harness.vectorStores.view(store), { files: { failed: 1, inProgress: 0 }, items: 0 });
  await eventually(async () => (await storage.left(store.id)).length === 2, 'the end of the work');
  t.equal(await storage.blobs.stat(`uploads/${file.id}`), undefined);
});

t.test('waiting in the queue is not a failure', async (t) => {
  const harness = storage.open(t, { waitMs: 1 });
  const store = await storage.newStore(harness);
  let refusals = 20;
  harness.before = () => {
    if (refusals-- > 0) throw fail('rate_limited', 'Too many requests', { headers: { 'retry-after': '0' } });
  };
  const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(1)), caller);
  t.match(await ended(harness, store, file.id), { file: { status: 'completed' } });
});

t.test('a vector store deleted meanwhile leaves nothing', async (t) => {
  for (const stage of [0, 1, 2]) {
    const harness = storage.open(t, { waitMs: 1, leaseMs: 300 });
    const store = await storage.newStore(harness);
    const stopped = gate(stage);
    harness.before = stopped.wait;
    const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(20)), caller);
    await eventually(async () => harness.batches.length > stage, 'the batch');
    await harness.vectorStores.remove(caller.subscription, store.id);
    stopped.open();
    await t.rejects(
      harness.vectorStores.get(caller.subscription, store.id, 'id'),
      /there is no vector store/,
    );
    await eventually(async () => (await storage.left(store.id)).length === 0, 'the last sweep');
    t.equal(await storage.vectors.count(store.id), 0);
    t.equal(await storage.blobs.stat(`uploads/${file.id}`), undefined);
  }
});

t.test('a file deleted meanwhile leaves nothing', async (t) => {
  const harness = storage.open(t, { waitMs: 1 });
  const store = await storage.newStore(harness);
  const stopped = gate(1);
  harness.before = stopped.wait;
  const { file } = await harness.vectorStores.add(store, await storage.upload(itemTexts(20)), caller);
  await eventually(async () => harness.batches.length === 2, 'the second batch');
  await harness.vectorStores.removeFile(store, file.id);
  stopped.open();
  await harness.vectorStores.add(store, await storage.upload(itemTexts(2, 'bread')), caller);
  await eventually(async () => (await storage.vectors.count(store.id)) === 2, 'the other file');
  t.equal((await storage.left(store.id)).includes(file.id), false);
  t.same([...words(await harness.vectorStores.search(store, [embedding('tide')], { limit: 50 }))].sort(), [
    'bread 0',
    'bread 1',
  ]);
  t.equal(await storage.blobs.stat(`uploads/${file.id}`), undefined);
});

t.test('adding, deleting and searching at the same time', async (t) => {
  const harness = storage.open(t);
  const { vectorStores } = harness;
  const store = await storage.newStore(harness);
  const deleted = new Set<string>();
  let searching = true;
  const search = async (): Promise<void> => {
    while (searching) {
      const gone = new Set(deleted);
      const found = await vectorStores.search(store, [embedding('tide water')], { limit: 50 });
      for (const { id } of found) if (gone.has(id)) t.fail(`${id} was deleted before the search`);
      // All items of a file, or none, but for those deleted one by one.
      await new Promise(setImmediate);
    }
  };
  const add = async (turn: number): Promise<void> => {
    const view = await vectorStores.add(store, await storage.upload(itemTexts(3, `file${turn}`)), caller);
    t.equal(view.items.length, 3);
    const [first = ''] = view.items;
    await vectorStores.removeItem(store, first);
    deleted.add(first);
    if (turn % 2 === 0) {
      await vectorStores.removeFile(store, view.file.id);
      for (const id of view.items) deleted.add(id);
    }
  };
  const searches = [search(), search()];
  await Promise.all(Array.from({ length: 12 }, (_, turn) => add(turn)));
  searching = false;
  await Promise.all(searches);
  t.equal(await storage.vectors.count(store.id), 12, 'two of three items of every other file');
  t.equal((await vectorStores.search(store, [embedding('tide water')], { limit: 50 })).length, 12);
});

t.test('vectors of another length are refused, not mixed in', async (t) => {
  const harness = storage.open(t, { retryMs: 0 });
  const store = { ...(await storage.newStore(harness)) };
  const record = await storage.state.get<typeof store>('vector-store', store.id);
  await storage.state.update('vector-store', store.id, record?.version ?? 0, {
    value: { ...store, dimensions: 32 },
  });
  const { file } = await harness.vectorStores.add(store, await storage.upload('words'), caller);
  t.match(await ended(harness, store, file.id), {
    file: {
      status: 'failed',
      error: { message: 'The embedding model gives vectors of 64 numbers, the vector store has 32' },
    },
  });
});
