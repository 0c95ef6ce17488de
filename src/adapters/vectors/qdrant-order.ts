/** Passages in order of creation, place and id, where the server orders by one number only. */
import type { Item, ItemPage } from '../../ports/vectors.ts';
import { type Condition, isEqual } from './qdrant-points.ts';

type Order = ItemPage['order'];
type Level = 'createdAt' | 'index';

/** Passages that meet the conditions: any of them, or the first by a number. */
export type Scroll = (
  conditions: readonly Condition[],
  limit: number,
  by?: { readonly key: Level; readonly direction: Order },
) => Promise<readonly Item[]>;

export interface Walk {
  readonly scroll: Scroll;
  readonly order: Order;
  /** Passages read at once. */
  readonly limit: number;
}

/** Files made in the very same millisecond that have a passage at one and the same place. */
const mostEqual = 1_000;

/** Those that share a number are ordered by the next level of their own, unless all of them were read anyway. */
export async function* inOrder(
  walk: Walk,
  where: readonly Condition[],
  after: Item | undefined,
  [key, ...deeper]: readonly Level[] = ['createdAt', 'index'],
): AsyncGenerator<Item> {
  const compare = comparing(walk.order);
  if (key === undefined) {
    const equal = await walk.scroll(where, mostEqual);
    yield* equal.filter((passage) => after === undefined || compare(after, passage) < 0).toSorted(compare);
    return;
  }
  if (after !== undefined) yield* inOrder(walk, [...where, isEqual(key, after[key])], after, deeper);
  let last = after;
  for (;;) {
    const conditions = last === undefined ? where : [...where, beyond(key, last[key], walk.order)];
    const some = await walk.scroll(conditions, walk.limit + 1, { key, direction: walk.order });
    if (some.length <= walk.limit) {
      yield* some.toSorted(compare);
      return;
    }
    const cut = some.at(-1)?.[key] ?? 0;
    yield* some.filter((passage) => passage[key] !== cut).toSorted(compare);
    yield* inOrder(walk, [...where, isEqual(key, cut)], undefined, deeper);
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
