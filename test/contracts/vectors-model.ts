/** The reference model of the Vectors port: lists in memory. */
import { fail } from '../../src/errors.ts';
import type { Hit, Item, Point, Vectors } from '../../src/ports/vectors.ts';

interface Entry {
  readonly point: Point;
  readonly published: boolean;
}

export const createModelVectors = (): Vectors => {
  const stores = new Map<string, Entry[]>();
  const visible = (store: string): Point[] =>
    (stores.get(store) ?? []).flatMap(({ point, published }) => (published ? [point] : []));
  const entriesOf = (store: string): Entry[] => {
    const entries = stores.get(store);
    if (entries === undefined) throw fail('not_found', 'The vector store does not exist');
    return entries;
  };
  const keep = (store: string, test: (entry: Entry) => boolean): void => {
    const entries = stores.get(store);
    if (entries !== undefined) stores.set(store, entries.filter(test));
  };

  return {
    create: async (store) => {
      if (!stores.has(store)) stores.set(store, []);
    },
    drop: async (store) => {
      stores.delete(store);
    },
    upsert: async (store, points) => {
      for (const point of points) {
        entriesOf(store);
        keep(store, (entry) => entry.point.id !== point.id);
        entriesOf(store).push({ point, published: false });
      }
    },
    publish: async (store, file) => {
      const entries = entriesOf(store).map((entry) =>
        entry.point.file === file ? { ...entry, published: true } : entry,
      );
      stores.set(store, entries);
    },
    get: async (store, id) => {
      const found = visible(store).find((point) => point.id === id);
      return found && itemOf(found);
    },
    list: async (store, { after, limit, order, file }) => {
      const sorted = visible(store).sort(byPlace);
      if (order === 'desc') sorted.reverse();
      const cursor = sorted.find(({ id }) => id === after);
      if (after !== undefined && cursor === undefined) return [];
      const sign = order === 'asc' ? 1 : -1;
      return sorted
        .filter((point) => cursor === undefined || sign * byPlace(cursor, point) < 0)
        .filter((point) => file === undefined || point.file === file)
        .slice(0, limit)
        .map(itemOf);
    },
    count: async (store) => visible(store).length,
    describe: async (store, id, change) => {
      const found = visible(store).find((point) => point.id === id);
      if (found === undefined) return false;
      keep(store, (entry) => entry.point.id !== id);
      entriesOf(store).push({ point: { ...found, ...change }, published: true });
      return true;
    },
    remove: async (store, id) => {
      const isThere = visible(store).some((point) => point.id === id);
      if (isThere) keep(store, (entry) => entry.point.id !== id);
      return isThere;
    },
    removeFile: async (store, file) => keep(store, (entry) => entry.point.file !== file),
    search: async (store, query, { limit, minimum = -1, file }) =>
      visible(store)
        .filter((point) => file === undefined || point.file === file)
        .map((point): Hit => ({ ...itemOf(point), similarity: cosine(point.vector, query) }))
        .filter(({ similarity }) => similarity >= minimum)
        .sort((one, other) => other.similarity - one.similarity || (one.id < other.id ? -1 : 1))
        .slice(0, limit),
    check: async () => undefined,
    close: async () => undefined,
  };
};

const itemOf = ({ vector: _, ...item }: Point): Item => item;

const byPlace = (one: Item, other: Item): number =>
  one.createdAt - other.createdAt ||
  one.index - other.index ||
  (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);

const cosine = (one: Float32Array, other: Float32Array): number => {
  const product = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, number, index) => sum + number * (b[index] ?? 0), 0);
  const lengths = Math.sqrt(product(one, one) * product(other, other));
  return lengths === 0 ? 0 : product(one, other) / lengths;
};
