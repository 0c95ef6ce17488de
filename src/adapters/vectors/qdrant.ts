/** An address in; the Vectors port on Qdrant out: points of all stores of one size in one collection, apart by their store. */
import { ApiError } from '../../errors.ts';
import type { Item, ItemPage, Vectors } from '../../ports/vectors.ts';
import { QdrantConnection, statusOf } from './qdrant-connection.ts';
import { inOrder, type Scroll } from './qdrant-order.ts';
import {
  type Condition,
  numbersOf,
  ofFile,
  ofStore,
  pointId,
  requests,
  toPassage,
  toStruct,
  visible,
  wellFormed,
} from './qdrant-points.ts';
import { applied, QdrantStores } from './qdrant-stores.ts';

export interface QdrantOptions {
  readonly key?: string | undefined;
  /** What the names of our collections start with. */
  readonly prefix?: string;
  /** Milliseconds a request may take. */
  readonly patience?: number;
}

/** Points with the same score as the last wanted one that are looked at, to find those with the first ids. */
const mostTies = 1_000;

export const openQdrantVectors = (
  url: string,
  { key, prefix = 'sluice_', patience = 10_000 }: QdrantOptions = {},
): Vectors => {
  const qdrant = new QdrantConnection(url, key, patience);
  const stores = new QdrantStores(qdrant, prefix);

  const removeAll = (collection: string, must: Condition[]) =>
    qdrant.call((client) => client.delete(collection, { ...applied, filter: { must } }));

  const find = async (collection: string, store: string, id: string): Promise<Item | undefined> => {
    const [point] = await qdrant.call((client) =>
      client.retrieve(collection, { ids: [pointId(store, id)], with_payload: true }),
    );
    return point?.payload?.published === true ? toPassage(point.payload) : undefined;
  };

  const scrolling =
    (collection: string): Scroll =>
    async (must, limit, by) => {
      const { points } = await qdrant.call((client) =>
        client.scroll(collection, {
          filter: { must: [...must] },
          limit,
          with_payload: true,
          ...(by !== undefined && { order_by: by }),
        }),
      );
      return points.map(({ payload }) => toPassage(payload ?? {}));
    };

  const list = async (collection: string, store: string, { after, limit, order, file }: ItemPage) => {
    const cursor = after === undefined ? undefined : await find(collection, store, after);
    if ((after !== undefined && cursor === undefined) || limit < 1) return [];
    const found: Item[] = [];
    const walk = { scroll: scrolling(collection), order, limit };
    for await (const passage of inOrder(walk, visible(store, file), cursor)) {
      found.push(passage);
      if (found.length === limit) break;
    }
    return found;
  };

  /** The server cuts ties as it likes: more are asked for until none is cut. */
  const nearest = async (collection: string, must: Condition[], query: number[], limit: number) => {
    for (let more = 1; ; more = Math.min(mostTies, more * 8)) {
      const { points } = await qdrant.call((client) =>
        client.query(collection, { query, filter: { must }, limit: limit + more, with_payload: true }),
      );
      const isCut = points.length === limit + more && points.at(-1)?.score === points[limit - 1]?.score;
      if (!isCut || more === mostTies) return points;
    }
  };

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
        const collection = await stores.backpressure(store);
        const structs = some.map((point) => toStruct(store, point));
        await qdrant.call((client) => client.upsert(collection, { ...applied, points: structs }));
      }
    },

    // One operation of the server: it goes through even when nobody waits for it any more.
    publish: async (store, file) => {
      const collection = await stores.backpressure(store);
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
      return collection === undefined ? undefined : find(collection, store, id);
    },

    list: async (store, page) => {
      const collection = await stores.find(store);
      return collection === undefined ? [] : list(collection, store, page);
    },

    count: async (store) => {
      const collection = await stores.find(store);
      if (collection === undefined) return 0;
      const { count } = await qdrant.call((client) =>
        client.count(collection, { filter: { must: visible(store) }, exact: true }),
      );
      return count;
    },

    // Changed in place, never written as a whole: a point that is removed meanwhile does not come back.
    describe: async (store, id, { description, vector, updatedAt }) => {
      const collection = await stores.find(store);
      if (collection === undefined || (await find(collection, store, id)) === undefined) return false;
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
      if (collection === undefined || (await find(collection, store, id)) === undefined) return false;
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
      const points = await nearest(collection, visible(store, file), numbersOf(query), limit);
      return points
        .map(({ payload, score }) => ({
          ...toPassage(payload ?? {}),
          similarity: Math.max(-1, Math.min(1, score)),
        }))
        .filter(({ similarity }) => similarity >= minimum)
        .toSorted((one, other) => other.similarity - one.similarity || (one.id < other.id ? -1 : 1))
        .slice(0, limit);
    },

    check: () => qdrant.check(() => stores.check()),
    close: async () => qdrant.close(),
  };
};
