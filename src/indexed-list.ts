/**
 * Things under way: they come and go by the thousand, in any order, and each knows its own place in the list.
 *
 * A Set does the same, at a price: V8 makes a new table for it every so many additions, and each old table, once it is
 * in the old generation, keeps alive the next one and whatever was in it. Nearly every request was carried over there.
 */
export interface Listed {
  /** Its roll's own. Starts as `absent`. */
  place: number;
}

export const absent = -1;

export class Roll<Item extends Listed> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (item.place !== absent) return;
    item.place = this.#items.length;
    this.#items.push(item);
  }

  delete(item: Item): void {
    if (item.place === absent) return;
    const last = this.#items.pop();
    if (last !== undefined && last !== item) {
      this.#items[item.place] = last;
      last.place = item.place;
    }
    item.place = absent;
  }

  /** From the last to the first, so that those visited may leave meanwhile. */
  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index];
      if (item !== undefined) yield item;
    }
  }
}
