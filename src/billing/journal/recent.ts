/** Keeps recently written events in memory, so that shipping need not read them back. */
import type { Cursor } from './segments.ts';

/** What was written at once. */
interface Written<Entry> {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  readonly entries: readonly Entry[];
}

interface RecentBatch<Entry> {
  readonly entries: readonly Entry[];
  readonly next: Cursor;
}

/** Bytes of journal that are kept; what came before, while shipping was behind, is read from the files. */
const most = 8 * 1024 * 1024;

/**
 * Events that wait before they are worth shipping at once. Under full load they are gone before the second young
 * collection, which would move them to the old generation: with 900 a whole response took 2 to 5 % more CPU time. Every
 * transaction of the ledger has a cost of its own: 150 were no better.
 */
const usualBatch = 300;

export class Recent<Entry> {
  readonly #enough: (() => void) | undefined;
  readonly #batch: number;
  #written: Written<Entry>[] = [];
  #bytes = 0;
  #count = 0;

  /** `enough` is called when there is something worth shipping. */
  constructor(enough?: () => void, batch = usualBatch) {
    this.#enough = enough;
    this.#batch = batch;
  }

  add(place: Cursor, bytes: number, entries: readonly Entry[]): void {
    this.#written.push({ segment: place.segment, from: place.offset, to: place.offset + bytes, entries });
    this.#bytes += bytes;
    this.#count += entries.length;
    if (this.#bytes > most) this.#drop(this.#written.length >> 1);
    if (this.#count >= this.#batch) this.#enough?.();
  }

  /** What lies before a place is not needed any more. */
  shipped(place: Cursor): void {
    this.#drop(this.#written.findIndex((written) => !isBefore(written, place)));
  }

  /** From a place on, some `maxBytes`; undefined when that is not kept. */
  from(place: Cursor, maxBytes: number): RecentBatch<Entry> | undefined {
    this.shipped(place);
    const entries: Entry[] = [];
    let { offset } = place;
    for (const { segment, from, to, entries: some } of this.#written) {
      if (segment !== place.segment || from !== offset || to - place.offset > maxBytes) break;
      entries.push(...some);
      offset = to;
    }
    return entries.length === 0 ? undefined : { entries, next: { segment: place.segment, offset } };
  }

  /** The first of them; all when there is no end. */
  #drop(count: number): void {
    const dropped = this.#written.splice(0, count < 0 ? this.#written.length : count);
    for (const { from, to, entries } of dropped) {
      this.#bytes -= to - from;
      this.#count -= entries.length;
    }
  }
}

const isBefore = ({ segment, to }: Written<unknown>, place: Cursor): boolean =>
  segment < place.segment || (segment === place.segment && to <= place.offset);
