/** The Vectors port on Qdrant: one collection for all stores with the same number of dimensions. */
import { ApiError } from '../../errors.ts';
import type { Vectors } from '../../ports/vectors.ts';
import { QdrantConnection, statusOf } from './qdrant-connection.ts';
import {
  type Condition,
  numbersOf,
  ofFile,
  ofStore,
  pointId,
  requests,
  toStruct,
  visible,
  wellFormed,
} from './qdrant-points.ts';
import { countItems, findItem, listItems, nearest } from './qdrant-read.ts';
import type { QdrantCluster, ReadConsistency } from './qdrant-settings.ts';
import { applied, QdrantStores } from './qdrant-stores.ts';

interface QdrantOptions extends QdrantCluster {
  readonly key?: string | undefined;
  readonly readConsistency?: ReadConsistency | undefined;
  /** What the names of our collections start with. */
  readonly prefix?: string;
  /** Milliseconds a request may take. */
  readonly patience?: number;
}

export const openQdrantVectors = (
  url: string,
  { key, prefix = 'sluice_', patience = 10_000, readConsistency, ...cluster }: QdrantOptions = {},
): Vectors => {
  const qdrant = new QdrantConnection(url, { key, patience, readConsistency });
  const stores = new QdrantStores(qdrant, prefix, cluster);

  const removeAll = (collection: string, must: Condition[]) =>
    qdrant.call((client) => client.delete(collection, { ...applied, filter: { must } }));

  return {
    create: (store, dimensions) => stores.add(store, dimensions),

    // The points twice: what is cut short can be done again, and what was added meanwhile goes too.
    drop: async (store) => {
      const collection = await stores.find(store);
      if (collection === undefined) return;
      await removeAll(collection, ofStore(store));
      await stores.remove(store);
      await removeAll(collection, ofStore(store));
    },

    upsert: async (store, points) => {
      for (const some of requests(points)) {
        const collection = await stores.require(store);
        const structs = some.map((point) => toStruct(store, point));
        await qdrant.call((client) => client.upsert(collection, { ...applied, points: structs }));
      }
    },

    // One operation of the server: it goes through even when nobody waits for it any more.
    publish: async (store, file) => {
      const collection = await stores.require(store);
      await qdrant.call((client) =>
        client.setPayload(collection, {
          ...applied,
          payload: { published: true },
          filter: { must: ofFile(store, file) },
        }),
      );
    },

    get: async (store, id) => {
      const collection = await stores.find(store);
      return collection === undefined ? undefined : findItem(qdrant, collection, store, id);
    },

    list: async (store, page) => {
      const collection = await stores.find(store);
      return collection === undefined ? [] : listItems(qdrant, collection, store, page);
    },

    count: async (store) => {
      const collection = await stores.find(store);
      return collection === undefined ? 0 : countItems(qdrant, collection, store);
    },

    // Changed in place, never written as a whole: a point that is removed meanwhile does not come back.
    describe: async (store, id, { description, vector, updatedAt }) => {
      const collection = await stores.find(store);
      if (collection === undefined || (await findItem(qdrant, collection, store, id)) === undefined)
        return false;
      const point = pointId(store, id);
      try {
        await qdrant.call((client) =>
          client.batchUpdate(collection, {
            ...applied,
            operations: [
              { update_vectors: { points: [{ id: point, vector: numbersOf(vector) }] } },
              {
                set_payload: {
                  payload: { description: wellFormed(description), updatedAt },
                  points: [point],
                },
              },
            ],
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ApiError && statusOf(error.cause) === 404) return false;
        throw error;
      }
    },

    remove: async (store, id) => {
      const collection = await stores.find(store);
      if (collection === undefined || (await findItem(qdrant, collection, store, id)) === undefined)
        return false;
      await removeAll(collection, [...visible(store), { has_id: [pointId(store, id)] }]);
      return true;
    },

    removeFile: async (store, file) => {
      const collection = await stores.find(store);
      if (collection !== undefined) await removeAll(collection, ofFile(store, file));
    },

    search: async (store, query, { limit, minimum = -1, file }) => {
      const collection = await stores.find(store);
      if (collection === undefined || limit < 1) return [];
      const hits = await nearest(qdrant, collection, visible(store, file), numbersOf(query), limit);
      return hits.filter(({ similarity }) => similarity >= minimum);
    },

    check: () => qdrant.check(() => stores.check()),
    close: async () => qdrant.close(),
  };
};
