/** The stores behind them in; the Collections port out: vector stores, their files and what is found in them. */
import type { CollectionRecord } from '../../schemas/vector-store-records.ts';
import { ApiError, fail } from '../errors.ts';
import type { StoredRecord } from '../ports/state.ts';
import type { Collections, CollectionView } from '../ports/vector-stores.ts';
import { Files } from './files.ts';
import { merged, withAttributes } from './found.ts';
import { absent, newCollectionId } from './ids.ts';
import { Ingestion, type IngestionOptions, type IngestionSurroundings } from './ingestion.ts';
import { collectionIndex, collectionKind, countCollections } from './records.ts';
import { Removal } from './removal.ts';

export interface CollectionsOptions extends IngestionOptions {
  /** Milliseconds that the request which brings a small file waits for it. */
  readonly waitMs: number;
}

const defaults: CollectionsOptions = { leaseMs: 30_000, pollMs: 5000, retryMs: 2000, waitMs: 30_000 };

/** Of a subscription. */
const maxCollections = 10_000;
/** How stale the time of last use may be: it is not worth a write for each search. */
const activityMs = 60_000;

export const createCollections = (
  around: IngestionSurroundings,
  options: Partial<CollectionsOptions> = {},
): Collections => {
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
  ): Promise<StoredRecord<CollectionRecord>> => {
    const record = await state.get<CollectionRecord>(collectionKind, id);
    if (record === undefined || record.owner !== subscription) throw absent(field, 'vector store', id);
    return record;
  };

  const view = async (collection: CollectionRecord): Promise<CollectionView> => {
    const { id, dimensions } = collection;
    const [counts, items] = await Promise.all([
      files.counts(id),
      dimensions === null ? 0 : vectors.count(id),
    ]);
    return { collection, files: counts, items };
  };

  const touch = async (collection: CollectionRecord): Promise<void> => {
    const now = Date.now();
    if (now - collection.lastActive < activityMs) return;
    const record = await state.get<CollectionRecord>(collectionKind, collection.id);
    if (record === undefined) return;
    const value = { ...record.value, lastActive: now };
    const index = collectionIndex(record.owner, value);
    await state.update(collectionKind, record.id, record.version, { value, index });
  };

  const noteUse = (collection: CollectionRecord): void => {
    touch(collection).catch((error) => log.warn({ err: error }, 'the last use was not noted'));
  };

  return {
    create: async (subscription, { name, description, metadata, model }) => {
      if ((await countCollections(state, subscription)) >= maxCollections)
        throw fail(
          'invalid_request',
          `The subscription has ${maxCollections} vector stores, the most it may have`,
        );
      const id = newCollectionId();
      const now = Date.now();
      const dimensions = model.capabilities?.embedding?.dimensions ?? null;
      const collection = {
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
      const index = collectionIndex(subscription, collection);
      await state.create<CollectionRecord>(collectionKind, {
        id,
        owner: subscription,
        value: collection,
        index,
      });
      return { collection, files: { inProgress: 0, completed: 0, failed: 0 }, items: 0 };
    },
    get: async (subscription, id, field) => (await find(subscription, id, field)).value,
    view,
    list: async (subscription, page) => {
      const records = await state.list<CollectionRecord>(collectionKind, { owner: subscription, ...page });
      return Promise.all(records.map(({ value }) => view(value)));
    },
    remove: async (subscription, id) => {
      const { owner } = await find(subscription, id, 'id');
      await removal.remove(id, owner);
    },

    add: async (collection, upload, caller) => {
      const added = await files.add(collection, upload, caller);
      noteUse(collection);
      return added;
    },
    file: (collection, id, field) => files.get(collection, id, field),
    files: (collection, page) => files.list(collection, page),
    removeFile: (collection, id) => files.remove(collection, id),

    item: async (collection, id) => {
      const passage = collection.dimensions === null ? undefined : await vectors.get(collection.id, id);
      if (passage === undefined) throw absent('itemid', 'item', id);
      return passage;
    },
    items: async (collection, page) =>
      collection.dimensions === null ? [] : vectors.list(collection.id, page),
    describe: async (collection, id, change) => {
      const changed = await vectors.describe(collection.id, id, { ...change, updatedAt: Date.now() });
      const passage = changed ? await vectors.get(collection.id, id) : undefined;
      if (passage === undefined) throw absent('itemid', 'item', id);
      return passage;
    },
    removeItem: async (collection, id) => {
      const passage = collection.dimensions === null ? undefined : await vectors.get(collection.id, id);
      if (passage === undefined || !(await vectors.remove(collection.id, id)))
        throw absent('itemid', 'item', id);
      await files.countDown(passage.file);
    },

    search: async (collection, queries, { limit, minimum }) => {
      if (collection.dimensions === null) return [];
      const found = await Promise.all(
        queries.map((query) =>
          vectors.search(collection.id, query, { limit, ...(minimum === undefined ? {} : { minimum }) }),
        ),
      ).catch((error: unknown) => {
        // Deleted since its record was read.
        if (error instanceof ApiError && error.kind === 'not_found')
          throw absent('id', 'vector store', collection.id);
        throw error;
      });
      noteUse(collection);
      const hits = found.length === 1 ? (found[0] ?? []) : merged(found.flat(), limit);
      return withAttributes(hits, (file) => files.attributes(file));
    },
    close: async () => {
      await removal.close();
      await ingestion.close();
    },
  };
};
