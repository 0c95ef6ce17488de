/** Allowances within one process: a counter for each, dropped when idle. */

import { from, mergeMap, Observable } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import { emitted } from '../../helpers/emitted.ts';
import {
  type Allowance,
  type Allowances,
  type Charge,
  type Claim,
  type ReserveOptions,
  type Used,
  usedByCost,
} from '../../ports/allowances.ts';
import { type Clock, monotonicClock } from '../admission/clock.ts';
import { IdleSweep } from '../idle-sweep.ts';
import { type Counter, HeldCounter, PeriodCounter, WindowCounter } from './counters.ts';
import { ensureRoom, LocalReservation } from './local-reservation.ts';

export interface LocalAllowancesOptions {
  /** What was used of a period before it was first claimed here: all that is billed, shipped or not. 0: always nothing. */
  readonly spent: ((allowance: Allowance) => Promise<number>) | 0;
  readonly clock?: Clock;
  /** Unix milliseconds. */
  readonly wallClock?: () => number;
}

export class LocalAllowances implements Allowances {
  readonly #options: LocalAllowancesOptions;
  readonly #clock: Clock;
  readonly #counters = new Map<string, Counter>();
  readonly #lasting = new Map<string, LocalReservation>();
  readonly #sweep: IdleSweep<[string, Counter]>;

  constructor(options: LocalAllowancesOptions) {
    const { clock = monotonicClock } = options;
    const counters = this.#counters;
    this.#options = options;
    this.#clock = clock;
    this.#sweep = new IdleSweep(clock, {
      get size() {
        return counters.size;
      },
      all: () => counters.entries(),
      removeIdle: ([name, counter], now) => void (counter.idleAt(now) && counters.delete(name)),
    });
  }

  /** Counters in memory. */
  get size(): number {
    return this.#counters.size;
  }

  /** What is used of each window. */
  windows(): { readonly name: string; readonly ms: number; readonly used: number }[] {
    const now = this.#clock.now();
    return [...this.#counters].flatMap(([name, counter]) =>
      counter instanceof WindowCounter ? [{ name, ms: counter.ms, used: counter.used(now) }] : [],
    );
  }

  reserve(
    id: string,
    claims: readonly Claim[],
    options?: ReserveOptions,
  ): LocalReservation | Observable<LocalReservation> {
    const now = this.#clock.now();
    const counters: Counter[] = [];
    for (const { allowance } of claims) {
      const counter = this.#counterOf(allowance, now);
      if (!counter.ready) return this.#reserveLater(id, claims, options);
      counters.push(counter);
    }
    const known = options?.again === true ? this.#lasting.get(id) : undefined;
    if (known !== undefined) return known;
    if (options?.again !== true) ensureRoom(claims, counters, now);
    const reservation = new LocalReservation(claims, counters, now);
    if (options?.lasting === true) this.#keep(id, reservation);
    return reservation;
  }

  async settle({ id, cost }: Charge): Promise<void> {
    const reservation = this.#lasting.get(id);
    reservation?.settle(usedByCost(reservation.claims, cost));
  }

  /** Its usage is in the ledger, which periods begin with. */
  died(): Promise<void> {
    return Promise.resolve();
  }

  async abandoned(): Promise<readonly string[]> {
    return [];
  }

  async used(allowances: readonly Allowance[]): Promise<readonly Used[]> {
    const unread = allowances.filter(({ span: { kind } }) => kind === 'period');
    await this.#seed(unread);
    const now = this.#clock.now();
    return allowances.map(({ name }) => {
      const counter = this.#counters.get(name);
      return counter === undefined
        ? { used: 0, reserved: 0 }
        : { used: counter.used(now), reserved: counter.reserved };
    });
  }

  check(): Promise<void> {
    return Promise.resolve();
  }

  async close(): Promise<void> {
    this.#sweep.close();
  }

  /** On subscription; decided when it is known what was used before. */
  #reserveLater(
    id: string,
    claims: readonly Claim[],
    options: ReserveOptions | undefined,
  ): Observable<LocalReservation> {
    return new Observable<void>((subscriber) =>
      from(this.#seed(claims.map(({ allowance }) => allowance))).subscribe(subscriber),
    ).pipe(mergeMap(() => emitted(this.reserve(id, claims, options))));
  }

  async #seed(allowances: readonly Allowance[]): Promise<void> {
    const { spent } = this.#options;
    if (spent === 0) return;
    const now = this.#clock.now();
    try {
      await Promise.all(
        allowances.map((allowance) => {
          const counter = this.#counterOf(allowance, now);
          return counter instanceof PeriodCounter && !counter.ready ? counter.seed(spent) : undefined;
        }),
      );
    } catch (cause) {
      throw notKnown(cause);
    }
  }

  #counterOf(allowance: Allowance, now: number): Counter {
    const known = this.#counters.get(allowance.name);
    if (known !== undefined) return known;
    const counter = this.#newCounter(allowance, now);
    this.#counters.set(allowance.name, counter);
    this.#sweep.begin();
    return counter;
  }

  #newCounter(allowance: Allowance, now: number): Counter {
    const { span } = allowance;
    if (span.kind === 'held') return new HeldCounter();
    if (span.kind === 'window') return new WindowCounter(span.ms);
    const { spent, wallClock = Date.now } = this.#options;
    return new PeriodCounter(allowance, {
      end: span.end,
      wallClock,
      now,
      settled: spent === 0 ? 0 : undefined,
    });
  }

  #keep(id: string, reservation: LocalReservation): void {
    this.#lasting.set(id, reservation);
    reservation.onSettled = () => this.#lasting.delete(id);
  }
}

/** The ledger did not say what was spent. */
export const notKnown = (cause: unknown): ApiError =>
  fail('unavailable', 'What was used so far is not known at the moment', {
    cause,
    headers: { 'retry-after': '1' },
  });
