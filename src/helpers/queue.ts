/**
 * First in, first out; anyone may leave from the middle, in constant time.
 *
 * A Set does the same, at the price that `IndexedList` tells of: a gateway whose requests waited in one took a quarter more
 * CPU time and half as much memory again.
 */
export interface Queued<Item> {
  /** The queue's own; undefined: it is in none. */
  place?: Place<Item> | undefined;
}

/** Who stands before and behind. One that has left refers to nobody: it may be in the old generation, and they are not. */
export interface Place<Item> {
  previous: Item | undefined;
  next: Item | undefined;
}

export class Queue<Item extends Queued<Item>> {
  #first: Item | undefined;
  #last: Item | undefined;
  #size = 0;

  get first(): Item | undefined {
    return this.#first;
  }

  get last(): Item | undefined {
    return this.#last;
  }

  get size(): number {
    return this.#size;
  }

  /** Of an item that is in no queue. */
  add(item: Item): void {
    const last = this.#last;
    item.place = { previous: last, next: undefined };
    if (last?.place === undefined) this.#first = item;
    else last.place.next = item;
    this.#last = item;
    this.#size++;
  }

  /** Of an item that is in this queue or in none; false: in none. */
  delete(item: Item): boolean {
    const { place } = item;
    if (place === undefined) return false;
    const { previous, next } = place;
    if (previous?.place === undefined) this.#first = next;
    else previous.place.next = next;
    if (next?.place === undefined) this.#last = previous;
    else next.place.previous = previous;
    place.previous = undefined;
    place.next = undefined;
    item.place = undefined;
    this.#size--;
    return true;
  }

  /** Nobody may come or leave meanwhile. */
  *[Symbol.iterator](): Generator<Item> {
    for (let item = this.#first; item !== undefined; item = item.place?.next) yield item;
  }
}
