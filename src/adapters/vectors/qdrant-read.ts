/** Reads items from Qdrant: by id, in order page by page, and by similarity. */
import { fail } from '../../errors.ts';
import type { Hit, Item, ItemPage } from '../../ports/vectors.ts';
import type { QdrantConnection } from './qdrant-connection.ts';
import { type Condition, isEqual, pointId, toItem, visible } from './qdrant-points.ts';

export const findItem = async (
  qdrant: QdrantConnection,
  collection: string,
  store: string,
  id: string,
): Promise<Item | undefined> => {
  const [point] = await qdrant.call((client) =>
    client.retrieve(collection, { ids: [pointId(store, id)], with_payload: true, ...qdrant.reading }),
  );
  return point?.payload?.published === true ? toItem(point.payload) : undefined;
};

export const countItems = async (
  qdrant: QdrantConnection,
  collection: string,
  store: string,
): Promise<number> => {
  // The client's own `count` passes no consistency.
  const { data } = await qdrant.call((client) =>
    client.api().countPoints({
      collection_name: collection,
      filter: { must: visible(store) },
      exact: true,
      ...qdrant.reading,
    }),
  );
  if (data.result === undefined) throw fail('unavailable', 'The vector store is unavailable');
  return data.result.count;
};

/** Points with the same score as the last one of a search that are read, to find those with the first ids. */
const mostTies = 1_000;

/** The server cuts ties arbitrarily: more points are requested until no tie is cut. */
export const nearest = async (
  qdrant: QdrantConnection,
  collection: string,
  must: Condition[],
  query: number[],
  limit: number,
): Promise<readonly Hit[]> => {
  for (let more = 1; ; more = Math.min(mostTies, more * 8)) {
    const { points } = await qdrant.call((client) =>
      client.query(collection, {
        query,
        filter: { must },
        limit: limit + more,
        with_payload: true,
        ...qdrant.reading,
      }),
    );
    const isCut = points.length === limit + more && points.at(-1)?.score === points[limit - 1]?.score;
    if (!isCut || more === mostTies)
      return points
        .map(({ payload, score }) => ({
          ...toItem(payload ?? {}),
          similarity: Math.max(-1, Math.min(1, score)),
        }))
        .toSorted((one, other) => other.similarity - one.similarity || (one.id < other.id ? -1 : 1))
        .slice(0, limit);
  }
};

export const listItems = async (
  qdrant: QdrantConnection,
  collection: string,
  store: string,
  { after, limit, order, file }: ItemPage,
): Promise<readonly Item[]> => {
  const cursor = after === undefined ? undefined : await findItem(qdrant, collection, store, after);
  if ((after !== undefined && cursor === undefined) || limit < 1) return [];
  const scroll: Scroll = async (must, limit, by) => {
    const { points } = await qdrant.call((client) =>
      client.scroll(collection, {
        filter: { must: [...must] },
        limit,
        with_payload: true,
        ...qdrant.reading,
        ...(by !== undefined && { order_by: by }),
      }),
    );
    return points.map(({ payload }) => toItem(payload ?? {}));
  };
  const found: Item[] = [];
  for await (const item of inOrder({ scroll, order, limit }, visible(store, file), cursor)) {
    found.push(item);
    if (found.length === limit) break;
  }
  return found;
};

type Order = ItemPage['order'];
type Level = 'createdAt' | 'index';

/** Items that meet the conditions: any of them, or the first by a number. */
type Scroll = (
  conditions: readonly Condition[],
  limit: number,
  by?: { readonly key: Level; readonly direction: Order },
) => Promise<readonly Item[]>;

interface Ordered {
  readonly scroll: Scroll;
  readonly order: Order;
  /** Items read at once. */
  readonly limit: number;
}

/** Files made in the very same millisecond that have a item at one and the same place. */
const mostEqual = 1_000;

/**
 * In order of creation, index and id, though the server orders by one number only: items that share a number are
 * ordered by the next level on their own, unless all of them were read anyway.
 */
async function* inOrder(
  ordered: Ordered,
  where: readonly Condition[],
  after: Item | undefined,
  [key, ...deeper]: readonly Level[] = ['createdAt', 'index'],
): AsyncGenerator<Item> {
  const compare = comparing(ordered.order);
  if (key === undefined) {
    const equal = await ordered.scroll(where, mostEqual);
    yield* equal.filter((item) => after === undefined || compare(after, item) < 0).toSorted(compare);
    return;
  }
  if (after !== undefined) yield* inOrder(ordered, [...where, isEqual(key, after[key])], after, deeper);
  let last = after;
  for (;;) {
    const conditions = last === undefined ? where : [...where, beyond(key, last[key], ordered.order)];
    const some = await ordered.scroll(conditions, ordered.limit + 1, { key, direction: ordered.order });
    if (some.length <= ordered.limit) {
      yield* some.toSorted(compare);
      return;
    }
    const cut = some.at(-1)?.[key] ?? 0;
    yield* some.filter((item) => item[key] !== cut).toSorted(compare);
    yield* inOrder(ordered, [...where, isEqual(key, cut)], undefined, deeper);
    last = some.at(-1);
  }
}

const beyond = (key: Level, value: number, order: Order): Condition => ({
  key,
  range: order === 'asc' ? { gt: value } : { lt: value },
});

const comparing =
  (order: Order) =>
  (one: Item, other: Item): number => {
    const ids = one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
    const difference = one.createdAt - other.createdAt || one.index - other.index || ids;
    return order === 'asc' ? difference : -difference;
  };
