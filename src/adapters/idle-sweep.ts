/** Removes what is idle from a collection, a slice at a time, for as long as it has members. */
import type { Clock } from './admission/clock.ts';

const sweepMs = 1000;
/** Members checked per sweep: under a millisecond. */
const sweepSlice = 10_000;

interface SweptCollection<Member> {
  readonly size: number;
  /** Stays valid while members are added and removed. */
  all(): Iterator<Member>;
  removeIdle(member: Member, now: number): void;
}

export class IdleSweep<Member> {
  readonly #clock: Clock;
  readonly #collection: SweptCollection<Member>;
  #place: Iterator<Member>;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, collection: SweptCollection<Member>) {
    this.#clock = clock;
    this.#collection = collection;
    this.#place = collection.all();
  }

  /** A member was added. */
  begin(): void {
    this.#stop ??= this.#clock.after(sweepMs, this.#sweep);
  }

  close(): void {
    this.#stop?.();
  }

  #sweep = (): void => {
    const now = this.#clock.now();
    for (let looked = 0; looked < sweepSlice; looked++) {
      const { done, value } = this.#place.next();
      if (done === true) {
        this.#place = this.#collection.all();
        break;
      }
      this.#collection.removeIdle(value, now);
    }
    this.#stop = this.#collection.size === 0 ? undefined : this.#clock.after(sweepMs, this.#sweep);
  };
}
