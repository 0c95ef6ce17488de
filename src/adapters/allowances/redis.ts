/** Allowances shared by all replicas: each decision and each settlement is one script in Redis. */
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import type {
  Allowance,
  Allowances,
  Charge,
  Claim,
  DeadProcess,
  Reservation,
  ReserveOptions,
  Used,
} from '../../ports/allowances.ts';
import type { Ledger } from '../../ports/ledger.ts';
import { type Clock, monotonicClock } from '../admission/clock.ts';
import { SharedUsage } from '../admission/shared-usage.ts';
import { type Channel, openChannel } from '../redis-channel.ts';
import { byPartition } from '../redis-partitions.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { DeadProcesses } from './dead-processes.ts';
import { Fallback } from './fallback.ts';
import { inTurns, Periods } from './periods.ts';
import { lasting, partitionOfAllowance, RedisCounters } from './redis-counters.ts';
import { RedisDecisions } from './redis-decisions.ts';
import { RedisReservation } from './redis-reservation.ts';
import { RedisReservations } from './redis-reservations.ts';
import { RedisSession } from './redis-session.ts';
import { partsOf, reserveAll } from './several-partitions.ts';

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

/** Milliseconds of the longest window that is reported before an outage. */
const windowMs = 60_000;

export class RedisAllowances implements Allowances {
  readonly #options: RedisAllowancesOptions;
  readonly #counters: RedisCounters;
  readonly #channel: Channel;
  readonly #periods = new Periods();
  readonly #usage: SharedUsage;
  readonly #fallback: Fallback;
  readonly #reservations: RedisReservations;
  readonly #session: RedisSession;
  readonly #decisions: RedisDecisions;
  readonly #dead: DeadProcesses;
  readonly #clock: Clock;
  readonly #graceMs: number;
  #closed = false;

  constructor(redis: RedisAddress, options: RedisAllowancesOptions) {
    const { process, prefix = 'sluice:', ttlMs = 12_000, patience = 1_000, graceMs = 60_000 } = options;
    const { fallback = 'local', clock = monotonicClock, ledger, log, wallClock = Date.now } = options;
    this.#options = options;
    this.#clock = clock;
    this.#graceMs = graceMs;
    this.#counters = new RedisCounters({
      redis,
      prefix,
      process,
      clock,
      leaseMs: (ttlMs * 3) / 4,
      patience,
      now: options.clock === undefined ? undefined : () => clock.now(),
      // Even if it is back in a moment: others may have used their portions meanwhile, and have yet to report it.
      onLost: () => {
        if (fallback === 'local') this.#session.failed(new Error('The connection to Redis was lost'));
      },
    });
    this.#usage = new SharedUsage(windowMs, clock);
    this.#dead = new DeadProcesses({ counters: this.#counters, ledger, graceMs, wallClock, log });
    this.#fallback = new Fallback({
      clock,
      noticeMs: ttlMs + 2 * patience,
      mostUsed: (name, limit) => this.#usage.mostStarted(name, limit),
      shareOf: (name) => this.#periods.shareOf(name),
    });
    const parts = {
      counters: this.#counters,
      periods: this.#periods,
      fallback: this.#fallback,
      usage: this.#usage,
      mode: fallback,
      clock,
    };
    this.#reservations = new RedisReservations({
      ...parts,
      process,
      isShared: () => this.#session.outage.phase === 'shared',
      onFailed: (error) => this.#session.failed(error),
    });
    const reservations = this.#reservations;
    this.#session = new RedisSession({
      ...parts,
      reservations,
      ttlMs,
      log,
      onBeat: () => this.#dead.look(),
      onRecovery: () => this.#decisions.recovered(),
    });
    const { spent, markCutOff } = options;
    this.#decisions = new RedisDecisions({
      ...parts,
      reservations,
      session: this.#session,
      spent,
      markCutOff,
      wallClock,
    });
    this.#channel = openChannel({
      redis,
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
      this.#reserve(id, claims, options).then(
        (reservation) => {
          // The client is gone.
          if (subscriber.closed) reservation.settle(claims.map(() => 0));
          subscriber.next(reservation);
          subscriber.complete();
        },
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  async #reserve(id: string, claims: readonly Claim[], options: ReserveOptions): Promise<Reservation> {
    const process = options.lasting === true ? lasting : this.#options.process;
    const at = this.#clock.now();
    const again = options.again === true;
    const parts = partsOf(claims).map(([partition, some]) => {
      const wanted = { id, claims: some, partition, process, at };
      return new RedisReservation(wanted, this.#reservations.settle);
    });
    const [only] = parts;
    if (only === undefined || parts.length > 1)
      return reserveAll(claims, parts, (part) => this.#decisions.decide(part, again));
    await this.#decisions.decide(only, again);
    return only;
  }

  async settle({ id, cost }: Charge, names: readonly string[]): Promise<void> {
    const claimed = new Set(names.map(partitionOfAllowance));
    for (const partition of claimed) await this.#counters.charge({ partition, process: lasting, id }, cost);
  }

  died(dead: DeadProcess): Promise<void> {
    return this.#dead.died(dead);
  }

  abandoned(): Promise<readonly string[]> {
    return this.#counters.abandoned();
  }

  async used(allowances: readonly Allowance[]): Promise<readonly Used[]> {
    const found = new Map<Allowance, Used>();
    const unseeded: Allowance[] = [];
    const groups = byPartition(allowances, ({ name }) => partitionOfAllowance(name));
    await inTurns(groups, async ([partition, some]) => {
      const sums = await this.#counters.used(partition, some);
      for (const [index, allowance] of some.entries()) {
        const [used = 0, reserved = 0] = sums.slice(2 * index);
        if (used < 0) unseeded.push(allowance);
        else found.set(allowance, { used, reserved });
      }
    });
    if (unseeded.length > 0) {
      await this.#decisions.seed(unseeded);
      return this.used(allowances);
    }
    return allowances.map((allowance) => found.get(allowance) ?? { used: 0, reserved: 0 });
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
    this.#session.close();
    await this.#reservations.flush();
    try {
      // What is left, of requests that were cut short, is looked up as if it had died.
      await this.#counters.died(process, this.#decisions.isCutOff, this.#graceMs);
    } catch (error) {
      const { size } = this.#reservations;
      log?.warn(
        { err: error, reservations: size },
        'Redis unavailable: reservations stay until their periods end',
      );
    }
    this.#channel.close();
    await this.#counters.close();
    await this.#fallback.close();
  }
}
