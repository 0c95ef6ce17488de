/** The stores behind them in; the VectorStores port out: vector stores, their files and what is found in them. */
import type { VectorStoreRecord } from '../../schemas/vector-store-records.ts';
import { ApiError, fail } from '../errors.ts';
import type { StoredRecord } from '../ports/state.ts';
import type { VectorStores, VectorStoreView } from '../ports/vector-stores.ts';
import { Files } from './files.ts';
import { merged, withAttributes } from './found.ts';
import { absent, newVectorStoreId } from './ids.ts';
import { Ingestion, type IngestionOptions, type IngestionSurroundings } from './ingestion.ts';
import { countStores, storeIndex, storeKind } from './records.ts';
import { Removal } from './removal.ts';

export interface VectorStoresOptions extends IngestionOptions {
  /** Milliseconds that the request which brings a small file waits for it. */
  readonly waitMs: number;
}

const defaults: VectorStoresOptions = { leaseMs: 30_000, pollMs: 5000, retryMs: 2000, waitMs: 30_000 };

/** Of a subscription. */
const maxStores = 10_000;
/** How stale the time of last use may be: it is not worth a write for each search. */
const activityMs = 60_000;

export const createVectorStores = (
  around: IngestionSurroundings,
  options: Partial<VectorStoresOptions> = {},
): VectorStores => {
  const { state, vectors, blobs, log } = around;
  const settings = { ...defaults, ...options };
  const ingestion = new Ingestion(around, settings);
  const files = new Files(around, ingestion, settings.waitMs);
  const removal = new Removal(
    { state, vectors, blobs, log, forget: (file) => ingestion.forget(file) },
    { pollMs: settings.pollMs, graceMs: settings.leaseMs * 2 },
  );

  const find = async (
    subscription: string,
    id: string,
    field: string,
  ): Promise<StoredRecord<VectorStoreRecord>> => {
    const record = await state.get<VectorStoreRecord>(storeKind, id);
    if (record === undefined || record.owner !== subscription) throw absent(field, 'vector store', id);
    return record;
  };

  const view = async (store: VectorStoreRecord): Promise<VectorStoreView> => {
    const { id, dimensions } = store;
    const [counts, items] = await Promise.all([
      files.counts(id),
      dimensions === null ? 0 : vectors.count(id),
    ]);
    return { store, files: counts, items };
  };

  const touch = async (store: VectorStoreRecord): Promise<void> => {
    const now = Date.now();
    if (now - store.lastActive < activityMs) return;
    const record = await state.get<VectorStoreRecord>(storeKind, store.id);
    if (record === undefined) return;
    const value = { ...record.value, lastActive: now };
    const index = storeIndex(record.owner, value);
    await state.update(storeKind, record.id, record.version, { value, index });
  };

  const noteUse = (store: VectorStoreRecord): void => {
    touch(store).catch((error) => log.warn({ err: error }, 'the last use was not noted'));
  };

  return {
    create: async (subscription, { name, description, metadata, model }) => {
      if ((await countStores(state, subscription)) >= maxStores)
        throw fail(
          'invalid_request',
          `The subscription has ${maxStores} vector stores, the most it may have`,
        );
      const id = newVectorStoreId();
      const now = Date.now();
      const dimensions = model.capabilities?.embedding?.dimensions ?? null;
      const store = {
        id,
        name,
        description,
        metadata,
        created: now,
        lastActive: now,
        model: model.id,
        dimensions,
      };
      if (dimensions !== null) await vectors.create(id, dimensions);
      const index = storeIndex(subscription, store);
      await state.create<VectorStoreRecord>(storeKind, {
        id,
        owner: subscription,
        value: store,
        index,
      });
      return { store, files: { inProgress: 0, completed: 0, failed: 0 }, items: 0 };
    },
    get: async (subscription, id, field) => (await find(subscription, id, field)).value,
    view,
    list: async (subscription, page) => {
      const records = await state.list<VectorStoreRecord>(storeKind, { owner: subscription, ...page });
      return Promise.all(records.map(({ value }) => view(value)));
    },
    remove: async (subscription, id) => {
      const { owner } = await find(subscription, id, 'id');
      await removal.remove(id, owner);
    },

    add: async (store, upload, caller) => {
      const added = await files.add(store, upload, caller);
      noteUse(store);
      return added;
    },
    file: (store, id, field) => files.get(store, id, field),
    files: (store, page) => files.list(store, page),
    removeFile: (store, id) => files.remove(store, id),

    item: async (store, id) => {
      const item = store.dimensions === null ? undefined : await vectors.get(store.id, id);
      if (item === undefined) throw absent('itemid', 'item', id);
      return item;
    },
    items: async (store, page) => (store.dimensions === null ? [] : vectors.list(store.id, page)),
    describe: async (store, id, change) => {
      const changed = await vectors.describe(store.id, id, { ...change, updatedAt: Date.now() });
      const item = changed ? await vectors.get(store.id, id) : undefined;
      if (item === undefined) throw absent('itemid', 'item', id);
      return item;
    },
    removeItem: async (store, id) => {
      const item = store.dimensions === null ? undefined : await vectors.get(store.id, id);
      if (item === undefined || !(await vectors.remove(store.id, id))) throw absent('itemid', 'item', id);
      await files.countDown(item.file);
    },

    search: async (store, queries, { limit, minimum }) => {
      if (store.dimensions === null) return [];
      const found = await Promise.all(
        queries.map((query) =>
          vectors.search(store.id, query, { limit, ...(minimum === undefined ? {} : { minimum }) }),
        ),
      ).catch((error: unknown) => {
        // Deleted since its record was read.
        if (error instanceof ApiError && error.kind === 'not_found')
          throw absent('id', 'vector store', store.id);
        throw error;
      });
      noteUse(store);
      const hits = found.length === 1 ? (found[0] ?? []) : merged(found.flat(), limit);
      return withAttributes(hits, (file) => files.attributes(file));
    },
    close: async () => {
      await removal.close();
      await ingestion.close();
    },
  };
};
