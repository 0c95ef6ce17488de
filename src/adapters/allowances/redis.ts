/** Allowances shared by all replicas: each decision and each settlement is one script in Redis. */
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import {
  type Allowance,
  type Allowances,
  type Charge,
  type Claim,
  type DeadProcess,
  Exhausted,
  type Reservation,
  type ReserveOptions,
  type Used,
} from '../../ports/allowances.ts';
import type { Ledger } from '../../ports/ledger.ts';
import { type Clock, monotonicClock } from '../admission/clock.ts';
import { unavailable } from '../admission/fallback.ts';
import { dataLost } from '../admission/redis-session.ts';
import { SharedUsage } from '../admission/shared-usage.ts';
import { type Channel, openChannel } from '../redis-channel.ts';
import { DeadProcesses } from './dead-processes.ts';
import { Fallback } from './fallback.ts';
import { notKnown } from './local.ts';
import { inTurns, Periods } from './periods.ts';
import { type Decision, lasting, RedisCounters } from './redis-counters.ts';
import { RedisReservation } from './redis-reservation.ts';
import { RedisSession } from './redis-session.ts';

export interface RedisAllowancesOptions {
  /** The name of this process: that of its journal. */
  readonly process: string;
  readonly spent: (allowance: Allowance) => Promise<number>;
  readonly ledger: Pick<Ledger, 'list'>;
  /** Whether this process has used what Redis does not know of yet; has to be on disk when it returns. */
  readonly markCutOff: (isCutOff: boolean) => void;
  /** First part of every key and channel. */
  readonly prefix?: string;
  /** Milliseconds after which a dead process holds nothing any more. */
  readonly ttlMs?: number;
  /** During an outage of Redis: refuse with 503, or decide in each process within its portion. */
  readonly fallback?: 'refuse' | 'local';
  /** Milliseconds after which a decision counts as failed. */
  readonly patience?: number;
  /** Milliseconds after which what a dead process left is looked up in the ledger. */
  readonly graceMs?: number;
  readonly log?: Logger;
  /** Virtual time instead of the server's. */
  readonly clock?: Clock;
  /** Unix milliseconds. */
  readonly wallClock?: () => number;
}

/** Decided without Redis or not yet sent to it, by this process. */
const mostOpen = 100_000;
/** Milliseconds of the longest window that is told of before an outage. */
const windowMs = 60_000;

export class RedisAllowances implements Allowances {
  readonly #options: RedisAllowancesOptions;
  readonly #counters: RedisCounters;
  readonly #channel: Channel;
  readonly #periods = new Periods();
  readonly #usage: SharedUsage;
  readonly #fallback: Fallback;
  readonly #session: RedisSession;
  readonly #dead: DeadProcesses;
  readonly #clock: Clock;
  readonly #graceMs: number;
  #isCutOff = false;
  #closed = false;

  constructor(url: string, options: RedisAllowancesOptions) {
    const { process, prefix = 'sluice:', ttlMs = 12_000, patience = 1_000, graceMs = 60_000 } = options;
    const { fallback = 'local', clock = monotonicClock, ledger, log, wallClock = Date.now } = options;
    this.#options = options;
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#counters = new RedisCounters({
      url,
      prefix,
      process,
      leaseMs: (ttlMs * 3) / 4,
      patience,
      now: options.clock === undefined ? undefined : () => clock.now(),
      // Even if it is back in a moment: others may have used their portions meanwhile, and have yet to report it.
      onLost: () => {
        if (fallback === 'local') this.#session.failed(new Error('The connection to Redis was lost'));
      },
    });
    this.#usage = new SharedUsage(windowMs, clock);
    this.#dead = new DeadProcesses({ counters: this.#counters, ledger, wallClock, log });
    this.#fallback = new Fallback({
      clock,
      noticeMs: ttlMs + 2 * patience,
      mostUsed: (name, limit) => this.#usage.mostStarted(name, limit),
      shareOf: (name) => this.#periods.shareOf(name),
    });
    this.#session = new RedisSession({
      counters: this.#counters,
      periods: this.#periods,
      fallback: this.#fallback,
      usage: this.#usage,
      mode: fallback,
      process,
      ttlMs,
      clock,
      log,
      onBeat: () => this.#dead.look(),
      onRecovery: () => this.#markCutOff(false),
    });
    this.#channel = openChannel({
      url,
      channels: [this.#counters.usageChannel],
      patience,
      onMessage: (_, text) => this.#usage.heard(text),
      onLost: () => this.#usage.lost(),
      onSubscribed: (again) => {
        void this.#usage.sync(() => this.#counters.usage());
        if (again) this.#session.tickIn(Math.random() * 250);
      },
    });
  }

  reserve(id: string, claims: readonly Claim[], options: ReserveOptions = {}): Observable<Reservation> {
    return new Observable((subscriber) => {
      const process = options.lasting === true ? lasting : this.#options.process;
      const reservation = new RedisReservation(
        { id, claims, process, at: this.#clock.now() },
        this.#session.settle,
      );
      this.#decide(reservation, options.again === true).then(
        () => {
          // The client is gone.
          if (subscriber.closed) reservation.settle(claims.map(() => 0));
          subscriber.next(reservation);
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  async settle({ id, cost }: Charge): Promise<void> {
    await this.#counters.charge(lasting, id, cost);
  }

  async died({ process, charges, cutOff }: DeadProcess): Promise<void> {
    const left = new Set(await this.#counters.reservations(process));
    const known = charges.filter(({ id }) => left.has(id));
    await inTurns(known, ({ id, cost }) => this.#counters.charge(process, id, cost));
    await this.#counters.died(process, cutOff, this.#graceMs);
  }

  async used(allowances: readonly Allowance[]): Promise<readonly Used[]> {
    const sums = await this.#counters.used(allowances);
    const unseeded = allowances.filter((_, index) => (sums[2 * index] ?? 0) < 0);
    if (unseeded.length > 0) {
      await this.#seed(unseeded);
      return this.used(allowances);
    }
    return allowances.map((_, index) => ({
      used: sums[2 * index] ?? 0,
      reserved: sums[2 * index + 1] ?? 0,
    }));
  }

  async check(): Promise<void> {
    await this.#counters.check();
    await this.#channel.ready();
    await this.#session.started;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { process, log } = this.#options;
    await this.#session.close();
    try {
      // What is left, of requests that were cut short, is looked up as if it had died.
      await this.#counters.died(process, this.#isCutOff, this.#graceMs);
    } catch (error) {
      const { unsettled } = this.#session;
      log?.warn({ err: error, unsettled }, 'Redis unavailable: reservations stay until their periods end');
    }
    this.#channel.close();
    await this.#counters.close();
    await this.#fallback.close();
  }

  async #decide(reservation: RedisReservation, again: boolean): Promise<void> {
    this.#session.add(reservation);
    try {
      while (!(await this.#attempt(reservation, again))) await this.#session.decided();
    } catch (error) {
      if (reservation.standing !== 'unwanted') this.#session.remove(reservation);
      throw error;
    }
  }

  /** False: to be tried again. */
  async #attempt(reservation: RedisReservation, again: boolean): Promise<boolean> {
    const { phase } = this.#session.outage;
    if (phase === 'settling') return this.#closed ? this.#refuse() : false;
    if (phase === 'local') return this.#decideHere(reservation);
    const { process, id, claims } = reservation;
    let decision: Decision;
    try {
      decision = await this.#counters.reserve(process, id, claims, again ? 0 : undefined);
    } catch (error) {
      // Until it is known whether Redis has it.
      this.#session.disown(reservation);
      this.#session.failed(error);
      return this.#decideHere(reservation);
    }
    this.#usage.repliedAt = this.#clock.now();
    switch (decision.kind) {
      case 'reserved':
        // Where one that lasts ends, another process may be the only one to know.
        if (process !== lasting) reservation.own = this.#fallback.adopt(id, claims);
        this.#session.granted(reservation);
        this.#periods.seen(claims, decision.sums, this.#clock.now());
        return true;
      case 'exhausted':
        throw this.#exhausted(claims[decision.index] as Claim, decision.left, decision.waitMs);
      case 'unseeded':
        await this.#seed(decision.indexes.flatMap((index) => claims[index]?.allowance ?? []));
        return false;
      case 'lost':
        this.#session.failed(dataLost());
        return false;
      case 'taken':
        throw new Error(`Request ${id} has a reservation already`);
    }
  }

  #decideHere(reservation: RedisReservation): boolean {
    const { id, claims } = reservation;
    if (this.#options.fallback === 'refuse' || this.#session.size > mostOpen) return this.#refuse();
    if (claims.some(({ allowance: { span }, amount }) => span.kind === 'period' && amount > 0))
      this.#markCutOff(true);
    reservation.own = this.#fallback.reserve(id, claims, this.#session.outage.portion);
    reservation.standing = 'reserved';
    return true;
  }

  #refuse(): never {
    throw unavailable();
  }

  #exhausted(claim: Claim, left: number, waitMs: number): Exhausted {
    const { span, limit } = claim.allowance;
    if (span.kind !== 'period') return new Exhausted(claim, left, waitMs < 0 ? undefined : waitMs);
    const { wallClock = Date.now } = this.#options;
    const never = span.end === undefined || claim.amount > limit;
    return new Exhausted(claim, left, never ? undefined : Math.max(0, span.end - wallClock()));
  }

  async #seed(allowances: readonly Allowance[]): Promise<void> {
    await inTurns(allowances, async (allowance) => {
      const spent = await this.#options.spent(allowance).catch((cause: unknown) => {
        throw notKnown(cause);
      });
      await this.#counters.seed(allowance, spent);
    });
  }

  #markCutOff(isCutOff: boolean): void {
    if (this.#isCutOff === isCutOff) return;
    this.#options.markCutOff(isCutOff);
    this.#isCutOff = isCutOff;
  }
}
