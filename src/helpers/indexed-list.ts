/**
 * Things under way: they come and go by the thousand, in any order, and each knows its own slot in the list.
 *
 * A Set does the same, at a price: V8 makes a new table for it every so many additions, and each old table, once it is
 * in the old generation, keeps alive the next one and whatever was in it. Nearly every request was carried over there.
 */
export interface Indexed {
  /** Its list's own. Starts as `unindexed`. */
  slot: number;
}

export const unindexed = -1;

export class IndexedList<Item extends Indexed> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (item.slot !== unindexed) return;
    item.slot = this.#items.length;
    this.#items.push(item);
  }

  delete(item: Item): void {
    if (item.slot === unindexed) return;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#items[item.slot] = last;
      last.slot = item.slot;
    }
    item.slot = unindexed;
  }

  /** From the last to the first, so that those visited may leave meanwhile. */
  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index];
      if (item !== undefined) yield item;
    }
  }
}
