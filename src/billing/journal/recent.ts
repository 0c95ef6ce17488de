/** What a writer has lately put into its journal in; the same out again for shipping, so that it need not be read back and parsed. */
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { EventMessage } from '../../ports/events.ts';
import type { Cursor } from './segments.ts';

/** What was written at once. */
interface Written {
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  readonly messages: readonly EventMessage[];
}

export interface RecentBatch {
  readonly messages: readonly EventMessage[];
  readonly next: Cursor;
}

/** Bytes of journal that are kept; what came before, while shipping was behind, is read from the files. */
const most = 8 * 1024 * 1024;

/**
 * Events that wait before they are worth shipping at once. What is kept much longer is copied by one garbage collection
 * after another.
 */
const many = 192;

export class Recent {
  readonly #enough: (() => void) | undefined;
  #written: Written[] = [];
  #bytes = 0;
  #count = 0;

  /** `enough` is called when there is something worth shipping. */
  constructor(enough?: () => void) {
    this.#enough = enough;
  }

  add(place: Cursor, bytes: number, messages: readonly EventMessage[]): void {
    this.#written.push({ segment: place.segment, from: place.offset, to: place.offset + bytes, messages });
    this.#bytes += bytes;
    this.#count += messages.length;
    if (this.#bytes > most) this.#drop(this.#written.length >> 1);
    if (this.#count >= many) this.#enough?.();
  }

  /** From a place on, some `maxBytes`; undefined when that is not kept. What lies before it is not needed any more. */
  from(place: Cursor, maxBytes: number): RecentBatch | undefined {
    this.#drop(this.#written.findIndex((written) => !isBefore(written, place)));
    const messages: EventMessage[] = [];
    let { offset } = place;
    for (const { segment, from, to, messages: some } of this.#written) {
      if (segment !== place.segment || from !== offset || to - place.offset > maxBytes) break;
      messages.push(...some);
      offset = to;
    }
    return messages.length === 0 ? undefined : { messages, next: { segment: place.segment, offset } };
  }

  /** The first of them; all when there is no end. */
  #drop(count: number): void {
    const dropped = this.#written.splice(0, count < 0 ? this.#written.length : count);
    for (const { from, to, messages } of dropped) {
      this.#bytes -= to - from;
      this.#count -= messages.length;
    }
  }
}

const isBefore = ({ segment, to }: Written, place: Cursor): boolean =>
  segment < place.segment || (segment === place.segment && to <= place.offset);

export const messageOf = (event: UsageEvent, json: string): EventMessage => ({
  key: event.subscription,
  json,
  event,
});
