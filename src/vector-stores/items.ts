/** Items of vector stores: read, described, removed, and searched by vector. */
import type { VectorStoreRecord } from '../../schemas/vector-stores/records.ts';
import { ApiError } from '../errors.ts';
import type { FoundItem, VectorStores } from '../ports/vector-stores.ts';
import type { Hit, Item, Vectors } from '../ports/vectors.ts';
import type { Files } from './files.ts';
import { absent } from './records.ts';

type Items = Pick<VectorStores, 'item' | 'items' | 'describe' | 'removeItem' | 'search'>;

/** A store without dimensions has had no item yet, and is not known to Vectors. */
export const createItems = (
  vectors: Vectors,
  files: Files,
  onSearch: (store: VectorStoreRecord) => void,
): Items => {
  const get = async ({ id, dimensions }: VectorStoreRecord, itemId: string): Promise<Item> => {
    const item = dimensions === null ? undefined : await vectors.get(id, itemId);
    if (item === undefined) throw absent('itemid', 'item', itemId);
    return item;
  };

  const searchAll = async (
    { id }: VectorStoreRecord,
    queries: readonly Float32Array[],
    options: Parameters<VectorStores['search']>[2],
  ): Promise<readonly (readonly Hit[])[]> => {
    try {
      return await Promise.all(queries.map((query) => vectors.search(id, query, options)));
    } catch (error) {
      // Deleted since its record was read.
      if (error instanceof ApiError && error.kind === 'not_found') throw absent('id', 'vector store', id);
      throw error;
    }
  };

  return {
    item: get,
    items: async ({ id, dimensions }, page) => (dimensions === null ? [] : vectors.list(id, page)),
    describe: async (store, id, change) => {
      await vectors.describe(store.id, id, { ...change, updatedAt: Date.now() });
      return get(store, id);
    },
    removeItem: async (store, id) => {
      const item = await get(store, id);
      if (!(await vectors.remove(store.id, id))) throw absent('itemid', 'item', id);
      await files.countDown(item.file);
    },
    search: async (store, queries, options) => {
      if (store.dimensions === null) return [];
      const found = await searchAll(store, queries, options);
      onSearch(store);
      const hits = found.length === 1 ? (found[0] ?? []) : merged(found.flat(), options.limit);
      return withAttributes(hits, files);
    },
  };
};

/** Each item once, with its best similarity, best first. */
const merged = (hits: readonly Hit[], limit: number): readonly Hit[] => {
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const known = best.get(hit.id);
    if (known === undefined || known.similarity < hit.similarity) best.set(hit.id, hit);
  }
  return [...best.values()].sort((one, other) => other.similarity - one.similarity).slice(0, limit);
};

const withAttributes = async (hits: readonly Hit[], files: Files): Promise<readonly FoundItem[]> => {
  const ids = [...new Set(hits.map(({ file }) => file))];
  const found = new Map(await Promise.all(ids.map(async (id) => [id, await files.attributes(id)] as const)));
  return hits.map((hit) => ({ ...hit, attributes: found.get(hit.file) ?? {} }));
};
