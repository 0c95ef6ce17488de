/** The stores behind them in; the Collections port out: vector stores, their files and what is found in them. */
import type { Model } from '../../schemas/catalog.ts';
import type {
  CollectionFileRecord,
  CollectionRecord,
  IngestionRecord,
} from '../../schemas/vector-store-records.ts';
import { ApiError, fail } from '../errors.ts';
import type { Collections, CollectionView, FileView, Upload } from '../ports/collections.ts';
import type { Caller } from '../ports/exchange.ts';
import type { StoredRecord } from '../ports/state.ts';
import { merged, withAttributes } from './found.ts';
import { absent, blobOf, newCollectionId } from './ids.ts';
import { Ingestion, type IngestionOptions, type IngestionSurroundings, smallBytes } from './ingestion.ts';
import {
  collectionIndex,
  collectionKind,
  countCollections,
  countFiles,
  fileIndex,
  fileKind,
} from './records.ts';
import { Removal } from './removal.ts';

export interface CollectionsOptions extends IngestionOptions {
  /** Milliseconds that the request which brings a small file waits for it. */
  readonly waitMs: number;
}

const defaults: CollectionsOptions = { leaseMs: 30_000, pollMs: 5000, retryMs: 2000, waitMs: 30_000 };

/** Of a subscription, and of a collection. */
const maxCollections = 10_000;
const maxFiles = 10_000;
/** Ids of items that a file tells by itself. */
const toldItems = 100;
/** How stale the time of last use may be: it is not worth a write for each search. */
const activityMs = 60_000;
/** Passages embedded at once where the model's row does not say, and at most. */
const usualBatch = 128;
const largestBatch = 256;

export const createCollections = (
  around: IngestionSurroundings,
  options: Partial<CollectionsOptions> = {},
): Collections => {
  const { state, vectors, blobs, log } = around;
  const settings = { ...defaults, ...options };
  const ingestion = new Ingestion(around, settings);
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

  const counts = async (id: string): Promise<CollectionView['files']> => {
    const [inProgress, completed, failed] = await Promise.all([
      countFiles(state, id, 'in_progress'),
      countFiles(state, id, 'completed'),
      countFiles(state, id, 'failed'),
    ]);
    return { inProgress, completed, failed };
  };

  const view = async (collection: CollectionRecord): Promise<CollectionView> => {
    const { id, dimensions } = collection;
    const [files, items] = await Promise.all([counts(id), dimensions === null ? 0 : vectors.count(id)]);
    return { collection, files, items };
  };

  const fileView = async (file: CollectionFileRecord): Promise<FileView> => {
    if (file.status !== 'completed') return { file, items: [] };
    const page = { limit: toldItems, order: 'asc', file: file.id } as const;
    const items = await vectors.list(file.collection, page);
    return { file, items: items.map(({ id }) => id) };
  };

  const findFile = async (
    collection: CollectionRecord,
    id: string,
    field: string,
  ): Promise<StoredRecord<CollectionFileRecord>> => {
    const record = await state.get<CollectionFileRecord>(fileKind, id);
    if (record === undefined || record.owner !== collection.id) throw absent(field, 'file', id);
    return record;
  };

  const removeFile = async (collection: CollectionRecord, id: string): Promise<void> => {
    await state.remove(fileKind, id);
    await ingestion.forget(id);
    await vectors.removeFile(collection.id, id);
    await blobs.remove(blobOf(id));
  };

  /** One passage less; whoever else counts at the same time makes it try again. */
  const countDown = async (id: string): Promise<void> => {
    for (;;) {
      const record = await state.get<CollectionFileRecord>(fileKind, id);
      if (record === undefined || record.value.items === 0) return;
      const value = { ...record.value, items: record.value.items - 1 };
      if (await state.update(fileKind, id, record.version, { value, index: fileIndex(value) })) return;
    }
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
      const { inProgress, completed, failed } = await counts(collection.id);
      if (inProgress + completed + failed >= maxFiles)
        throw fail('invalid_request', `id: the vector store has ${maxFiles} files, the most it may have`);
      const model = around.catalog.find(collection.model);
      const hold = await ingestion.claim(ingestionOf(collection, upload, caller, model));
      const file = fileOf(collection, upload);
      await state.create(fileKind, {
        id: file.id,
        owner: collection.id,
        value: file,
        index: fileIndex(file),
      });
      const settled = ingestion.begin(hold);
      void touch(collection).catch((error) => log.warn({ err: error }, 'the last use was not noted'));
      if (upload.bytes > smallBytes) return { file, items: [] };
      const outcome = await withinTime(settled, settings.waitMs);
      if (outcome === 'gone') throw absent('id', 'vector store', collection.id);
      if (typeof outcome === 'object') {
        await removeFile(collection, file.id);
        throw fail('invalid_request', `file: ${outcome.unreadable}`);
      }
      return fileView((await findFile(collection, file.id, 'file')).value);
    },
    file: async (collection, id, field) => fileView((await findFile(collection, id, field)).value),
    files: async (collection, page) => {
      const records = await state.list<CollectionFileRecord>(fileKind, { owner: collection.id, ...page });
      return Promise.all(records.map(({ value }) => fileView(value)));
    },
    removeFile: async (collection, id) => {
      await findFile(collection, id, 'fileid');
      await removeFile(collection, id);
    },

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
      await countDown(passage.file);
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
      void touch(collection).catch((error) => log.warn({ err: error }, 'the last use was not noted'));
      const hits = found.length === 1 ? (found[0] ?? []) : merged(found.flat(), limit);
      return withAttributes(hits, async (file) => {
        const record = await state.get<CollectionFileRecord>(fileKind, file);
        return record?.value.attributes ?? {};
      });
    },
    close: async () => {
      await removal.close();
      await ingestion.close();
    },
  };
};

const fileOf = (collection: CollectionRecord, upload: Upload): CollectionFileRecord => ({
  id: upload.file,
  collection: collection.id,
  filename: upload.filename,
  bytes: upload.bytes,
  mediaType: upload.mediaType,
  created: Date.now(),
  status: 'in_progress',
  error: null,
  attributes: upload.attributes,
  chunking: upload.chunking,
  items: 0,
});

const ingestionOf = (
  collection: CollectionRecord,
  { file, blob, bytes, format }: Upload,
  { subscription, key }: Caller,
  model: Model | undefined,
): IngestionRecord => ({
  file,
  collection: collection.id,
  subscription,
  key,
  blob,
  bytes,
  format,
  batch: Math.min(model?.capabilities?.embedding?.batch ?? usualBatch, largestBatch),
  done: 0,
  attempts: 0,
});

/** Undefined when the time was over first. */
const withinTime = async <T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
