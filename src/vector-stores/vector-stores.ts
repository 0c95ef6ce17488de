/** The VectorStores port: records of vector stores, and their files, items and removal. */
import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { fail } from '../errors.ts';
import type { StoredRecord } from '../ports/state.ts';
import type { StorageLimits, VectorStores, VectorStoreView } from '../ports/vector-stores.ts';
import { Files } from './files.ts';
import { Ingestion, type IngestionOptions } from './ingestion.ts';
import { createItems } from './items.ts';
import { absent, countStores, newVectorStoreId, storeIndex, storeKind } from './records.ts';
import { Removal } from './removal.ts';
import type { IngestionPorts } from './settle-ingestion.ts';
import { Storage } from './storage.ts';

export interface VectorStoresOptions extends IngestionOptions {
  readonly limits: StorageLimits;
  /** Milliseconds that the upload request of a small file waits for its ingestion. */
  readonly waitMs: number;
}

const defaults: VectorStoresOptions = {
  leaseMs: 30_000,
  pollMs: 5000,
  retryMs: 2000,
  waitMs: 30_000,
  limits: { bytes: Number.MAX_SAFE_INTEGER, files: Number.MAX_SAFE_INTEGER, items: Number.MAX_SAFE_INTEGER },
};

/** Of a subscription. */
const maxStores = 10_000;
/** How stale the time of last use may be: it is not worth a write for each search. */
const activityMs = 60_000;

export const createVectorStores = (
  parts: Omit<IngestionPorts, 'storage'>,
  options: Partial<VectorStoresOptions> = {},
): VectorStores => {
  const { state, vectors, blobs, log } = parts;
  const settings = { ...defaults, ...options };
  const { limits } = settings;
  const storage = new Storage(state, limits);
  const ports = { ...parts, storage };
  const ingestion = new Ingestion(ports, settings);
  const files = new Files(ports, ingestion, settings.waitMs);
  const removal = new Removal(
    { state, vectors, blobs, storage, log, forget: (file) => ingestion.forget(file) },
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
    const items = dimensions === null ? 0 : vectors.count(id);
    const [counts, total] = await Promise.all([files.counts(id), items]);
    return { store, files: counts, items: total };
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
    touch(store).catch((error) => log.warn({ err: error }, 'vector store: last use not recorded'));
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
      const times = { created: now, lastActive: now };
      const store = { id, name, description, metadata, ...times, model: model.id, dimensions };
      if (dimensions !== null) await vectors.create(id, dimensions);
      const index = storeIndex(subscription, store);
      await state.create<VectorStoreRecord>(storeKind, { id, owner: subscription, value: store, index });
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

    reserve: (subscription, bytes) => storage.reserve(subscription, bytes),
    storage: async (subscription) => ({ used: await storage.used(subscription), limits }),
    get refused() {
      return storage.refused;
    },

    add: async (store, upload, caller) => {
      const added = await files.add(store, upload, caller);
      noteUse(store);
      return added;
    },
    file: (store, id, field) => files.get(store, id, field),
    files: (store, page) => files.list(store, page),
    removeFile: (store, id) => files.remove(store, id),
    ...createItems(vectors, files, noteUse),
    close: async () => {
      await removal.close();
      await ingestion.close();
    },
  };
};
