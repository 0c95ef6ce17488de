/** The reservations of this process: sends their settlements to Redis, and reports them again after an outage. */
import type { Clock } from '../admission/clock.ts';
import { byPartition } from '../redis-partitions.ts';
import { inTurns, type Periods } from './periods.ts';
import { type Entry, lasting, type RedisCounters } from './redis-counters.ts';
import type { RedisReservation } from './redis-reservation.ts';

interface RedisReservationsOptions {
  readonly counters: RedisCounters;
  readonly periods: Periods;
  readonly process: string;
  readonly clock: Clock;
  /** Whether Redis decides now. */
  isShared(): boolean;
  onFailed(error: unknown): void;
}

export class RedisReservations {
  readonly #options: RedisReservationsOptions;
  /** Asked for, not settled, or settled and Redis may not know; by their keys. */
  readonly #open = new Map<string, RedisReservation>();
  /** Settled, but still remembered by Redis in case the reply was lost. */
  #settled: Entry[] = [];
  readonly #sending = new Set<Promise<void>>();

  constructor(options: RedisReservationsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  add(reservation: RedisReservation): void {
    this.#open.set(reservation.key, reservation);
  }

  remove({ key }: RedisReservation): void {
    this.#open.delete(key);
  }

  /** Redis has it, since it was asked after so many outages. */
  granted(reservation: RedisReservation, outages: number): void {
    reservation.standing = 'reserved';
    reservation.reportedAfter = outages;
    // Another process may settle it.
    if (reservation.process === lasting) this.remove(reservation);
  }

  /** One that cannot be sent now is sent after the outage. */
  settle = (reservation: RedisReservation): void => {
    this.add(reservation);
    if (this.#options.isShared()) this.#send(reservation);
  };

  /** The reply to a request for it was lost, and nobody waits for it any more. */
  disown(reservation: RedisReservation): void {
    reservation.standing = 'unwanted';
    reservation.used = reservation.claims.map(() => 0);
  }

  /** Those that Redis may not have: made without it, or before it was unavailable for the last time. */
  async report(outages: number): Promise<void> {
    const { counters, clock } = this.#options;
    const unreported = [...this.#open.values()].filter(
      ({ standing, reportedAfter }) =>
        (standing === 'reserved' || standing === 'settled') && reportedAfter !== outages,
    );
    await inTurns(unreported, async (reservation) => {
      const { process, claims, at } = reservation;
      await counters.reserve(reservation, claims, clock.now() - at);
      reservation.reportedAfter = outages;
      if (process === lasting && reservation.standing === 'reserved') this.remove(reservation);
    });
  }

  /** After an outage. */
  sendSettled(): void {
    for (const reservation of this.#open.values())
      if (reservation.standing === 'settled' || reservation.standing === 'unwanted') this.#send(reservation);
  }

  /** Requests whose replies were lost may have been carried out later. */
  async releaseUnknown(): Promise<void> {
    const { counters, process } = this.#options;
    const all = await counters.reservations(process);
    const unknown = all.filter(({ partition, id }) => !this.#open.has(`${partition}:${id}`));
    await inTurns(unknown, (entry) => counters.charge(entry, 0));
    await this.#forget(unknown);
  }

  async forgetSettled(): Promise<void> {
    const settled = this.#settled;
    this.#settled = [];
    await this.#forget(settled);
  }

  async #forget(entries: readonly Entry[]): Promise<void> {
    const groups = byPartition(entries, ({ partition }) => partition);
    await inTurns(groups, ([partition, some]) =>
      this.#options.counters.forget(
        partition,
        some.map(({ id }) => id),
      ),
    );
  }

  /** Resolves when Redis has replied to all settlements, or has not in time. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#sending);
  }

  #send(reservation: RedisReservation): void {
    const { counters, periods, clock, onFailed } = this.#options;
    const { partition, process, id, key, claims, used } = reservation;
    const sending = counters.settle(reservation, used).then((sums) => {
      periods.seen(claims, sums, clock.now());
      if (this.#open.get(key) === reservation) this.remove(reservation);
      if (process !== lasting) this.#settled.push({ partition, process, id });
    }, onFailed);
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }
}
