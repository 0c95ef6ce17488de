/** Takes a reservation through its decision: by Redis, or by this process while Redis is unavailable. */
import { type Allowance, type Claim, Exhausted } from '../../ports/allowances.ts';
import type { Clock } from '../admission/clock.ts';
import { unavailable } from '../admission/fallback.ts';
import { dataLost } from '../admission/redis-session.ts';
import type { SharedUsage } from '../admission/shared-usage.ts';
import type { Fallback } from './fallback.ts';
import { notKnown } from './local.ts';
import { inTurns, type Periods } from './periods.ts';
import { lasting, type RedisCounters } from './redis-counters.ts';
import type { RedisReservation } from './redis-reservation.ts';
import type { RedisReservations } from './redis-reservations.ts';
import type { RedisSession } from './redis-session.ts';
import type { Decision } from './redis-words.ts';

interface RedisDecisionsOptions {
  readonly counters: RedisCounters;
  readonly reservations: RedisReservations;
  readonly session: RedisSession;
  readonly periods: Periods;
  readonly fallback: Fallback;
  readonly usage: SharedUsage;
  readonly mode: 'refuse' | 'local';
  readonly clock: Clock;
  readonly wallClock: () => number;
  readonly spent: (allowance: Allowance) => Promise<number>;
  readonly markCutOff: (isCutOff: boolean) => void;
}

/** Reservations that this process keeps, most of which it decided without Redis or could not send to it yet. */
const mostOpen = 100_000;

export class RedisDecisions {
  readonly #options: RedisDecisionsOptions;
  /** It has used its shares of periods, and Redis does not know of it yet. */
  isCutOff = false;

  constructor(options: RedisDecisionsOptions) {
    this.#options = options;
  }

  /** Resolves when it is reserved; rejects with `Exhausted` or `unavailable`. */
  async decide(reservation: RedisReservation, again: boolean): Promise<void> {
    const { reservations, session } = this.#options;
    reservations.add(reservation);
    try {
      while (!(await this.#attempt(reservation, again))) await session.decided();
    } catch (error) {
      if (reservation.standing !== 'unwanted') reservations.remove(reservation);
      throw error;
    }
  }

  /** Redis knows of everything again. */
  recovered(): void {
    this.#markCutOff(false);
  }

  /** Those of which it is not known what was used before. */
  async seed(allowances: readonly Allowance[]): Promise<void> {
    const { counters, spent } = this.#options;
    await inTurns(allowances, async (allowance) => {
      const before = await spent(allowance).catch((cause: unknown) => {
        throw notKnown(cause);
      });
      await counters.seed(allowance, before);
    });
  }

  /** False: to be tried again. */
  async #attempt(reservation: RedisReservation, again: boolean): Promise<boolean> {
    const { counters, session, reservations, usage, clock } = this.#options;
    if (session.outage.phase === 'settling') {
      if (session.closed) throw unavailable();
      return false;
    }
    if (session.outage.phase === 'local') return this.#decideHere(reservation);
    const { outages } = session;
    let decision: Decision;
    try {
      decision = await counters.reserve(reservation, reservation.claims, again ? 0 : undefined);
    } catch (error) {
      // Until it is known whether Redis has it.
      reservations.disown(reservation);
      session.failed(error);
      return this.#decideHere(reservation);
    }
    usage.repliedAt = clock.now();
    return this.#follow(decision, reservation, outages);
  }

  async #follow(decision: Decision, reservation: RedisReservation, outages: number): Promise<boolean> {
    const { session, reservations, periods, fallback, clock } = this.#options;
    const { process, id, key, claims } = reservation;
    switch (decision.kind) {
      case 'reserved':
        // Where one that lasts ends, another process may be the only one to know.
        if (process !== lasting) reservation.own = fallback.adopt(key, claims);
        reservation.leftOfEach = decision.left;
        reservations.granted(reservation, outages);
        periods.seen(claims, decision.sums, clock.now());
        return true;
      case 'exhausted':
        throw this.#exhausted(claims[decision.index] as Claim, decision.left, decision.waitMs);
      case 'unseeded':
        await this.seed(decision.indexes.flatMap((index) => claims[index]?.allowance ?? []));
        return false;
      case 'lost':
        session.failed(dataLost());
        return false;
      case 'taken':
        throw new Error(`Request ${id} has a reservation already`);
    }
  }

  #decideHere(reservation: RedisReservation): boolean {
    const { mode, reservations, session, fallback } = this.#options;
    const { key, claims } = reservation;
    if (mode === 'refuse' || reservations.size > mostOpen) throw unavailable();
    if (claims.some(({ allowance: { span }, amount }) => span.kind === 'period' && amount > 0))
      this.#markCutOff(true);
    reservation.own = fallback.reserve(key, claims, session.outage.portion);
    reservation.standing = 'reserved';
    return true;
  }

  #exhausted(claim: Claim, left: number, waitMs: number): Exhausted {
    const { span, limit } = claim.allowance;
    if (span.kind !== 'period') return new Exhausted(claim, left, waitMs < 0 ? undefined : waitMs);
    const never = span.end === undefined || claim.amount > limit;
    return new Exhausted(claim, left, never ? undefined : Math.max(0, span.end - this.#options.wallClock()));
  }

  /** On disk before a share is used: whoever adopts the journal must know. */
  #markCutOff(isCutOff: boolean): void {
    if (this.isCutOff === isCutOff) return;
    this.#options.markCutOff(isCutOff);
    this.isCutOff = isCutOff;
  }
}
