/** Keeps Redis informed of what this process reserved and settled, through outages. */
import type { Logger } from 'pino';
import type { Clock } from '../admission/clock.ts';
import { Outage } from '../admission/redis-outage.ts';
import { dataLost } from '../admission/redis-session.ts';
import type { SharedUsage } from '../admission/shared-usage.ts';
import type { Fallback } from './fallback.ts';
import { inTurns, type Periods } from './periods.ts';
import { lasting, type RedisCounters } from './redis-counters.ts';
import type { RedisReservation } from './redis-reservation.ts';

interface RedisSessionOptions {
  readonly counters: RedisCounters;
  readonly periods: Periods;
  readonly fallback: Fallback;
  readonly usage: SharedUsage;
  /** What requests get during an outage. */
  readonly mode: 'refuse' | 'local';
  readonly process: string;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  /** After each heartbeat while Redis decides. */
  onBeat(): Promise<void>;
  /** Redis decides again, and knows all that this process did without it. */
  onRecovery(): void;
}

export class RedisSession {
  readonly outage: Outage;
  /** Resolves after the first heartbeat, or the first that failed. */
  readonly started: Promise<void>;
  readonly #options: RedisSessionOptions;
  readonly #open = new Map<string, RedisReservation>();
  /** Settled, but still remembered by Redis in case the reply was lost. */
  #settled: string[] = [];
  readonly #sending = new Set<Promise<void>>();
  readonly #waiting = new Set<() => void>();
  #outages = 0;
  #raisedAfter = 0;
  #closed = false;
  #cancelTick: (() => void) | undefined;
  #onStarted: (() => void) | undefined;

  constructor(options: RedisSessionOptions) {
    this.#options = options;
    this.outage = new Outage(options.ttlMs, options.clock);
    this.started = new Promise((resolve) => {
      this.#onStarted = resolve;
    });
    this.tickIn(0);
  }

  /** Reservations that are asked for, not settled, or settled and not yet sent. */
  get size(): number {
    return this.#open.size;
  }

  get unsettled(): number {
    return [...this.#open.values()].filter(({ process }) => process !== lasting).length;
  }

  add(reservation: RedisReservation): void {
    this.#open.set(reservation.id, reservation);
  }

  remove({ id }: RedisReservation): void {
    this.#open.delete(id);
  }

  /** Redis has it. */
  granted(reservation: RedisReservation): void {
    reservation.standing = 'reserved';
    reservation.reportedAfter = this.#outages;
    // Another process may settle it.
    if (reservation.process === lasting) this.remove(reservation);
  }

  settle = (reservation: RedisReservation): void => {
    this.add(reservation);
    if (this.outage.phase === 'shared') this.#send(reservation);
  };

  /** The reply to a request for it was lost, and nobody waits for it any more. */
  disown(reservation: RedisReservation): void {
    reservation.standing = 'unwanted';
    reservation.used = reservation.claims.map(() => 0);
  }

  /** A call has failed. */
  failed(error: unknown): void {
    const before = this.outage.begin();
    this.#outages++;
    if (before === 'local' || this.#closed) return;
    const { fallback, usage, log, mode, ttlMs } = this.#options;
    if (before === 'shared') {
      usage.outageBegan();
      fallback.outageBegan();
      log?.warn(
        { err: error, fallback: mode, replicas: this.outage.portion.replicas },
        'Redis unavailable: allowances are not shared',
      );
    }
    this.tickIn(Math.random() * Math.min(ttlMs / 4, 500));
    this.#phaseChanged();
  }

  /** Resolves when requests need not wait for processes to settle any more. */
  async decided(): Promise<void> {
    while (this.outage.phase === 'settling' && !this.#closed)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
  }

  tickIn(milliseconds: number): void {
    if (this.#closed) return;
    this.#cancelTick?.();
    this.#cancelTick = this.#options.clock.after(milliseconds, () => void this.#tick());
  }

  /** Resolves when Redis has replied to all settlements, or has not in time. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTick?.();
    this.#phaseChanged();
    await Promise.allSettled(this.#sending);
  }

  #phaseChanged(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #tick(): Promise<void> {
    const { counters, usage, clock, onBeat } = this.#options;
    try {
      // What this process does alone is not in a report that is under way.
      const settled = this.outage.phase !== 'local';
      if (this.outage.phase !== 'shared') await this.#report();
      const { phase } = this.outage;
      const beat = await counters.processes.heartbeat(this.outage.since, settled && phase !== 'local');
      usage.repliedAt = clock.now();
      usage.prune();
      if (beat.lost) throw dataLost();
      if (!this.#closed && this.outage.next(beat) === 'shared') await this.#recover();
      if (!this.#closed && this.outage.phase === 'shared') await this.#maintain(onBeat);
    } catch (error) {
      this.failed(error);
    }
    this.#onStarted?.();
    this.tickIn(this.#pause());
  }

  /** With jitter: after an outage processes do not all reconnect at the same moment. */
  #pause(): number {
    const quarter = this.#options.ttlMs / 4;
    const longest = { shared: quarter, local: 500, settling: 50 }[this.outage.phase];
    return Math.min(quarter, longest) * (0.75 + Math.random() / 4);
  }

  /** Redis may have lost what it had, and never had what was decided here. */
  async #report(): Promise<void> {
    const { counters, periods, fallback, clock } = this.#options;
    const outages = this.#outages;
    const unreported = [...this.#open.values()].filter(
      ({ standing, reportedAfter }) =>
        (standing === 'reserved' || standing === 'settled') && reportedAfter !== outages,
    );
    await inTurns(unreported, async (reservation) => {
      const { process, id, claims, at } = reservation;
      await counters.reserve(process, id, claims, clock.now() - at);
      reservation.reportedAfter = outages;
      if (process === lasting && reservation.standing === 'reserved') this.remove(reservation);
    });
    if (this.#raisedAfter !== outages) await periods.raise(counters);
    this.#raisedAfter = outages;
    await inTurns(fallback.windows(), (window) => counters.recount(window));
  }

  async #recover(): Promise<void> {
    const { usage, log, onRecovery } = this.#options;
    usage.outageEnded();
    for (const reservation of this.#open.values())
      if (reservation.standing === 'settled' || reservation.standing === 'unwanted') this.#send(reservation);
    await this.#releaseUnknown();
    log?.info('Redis recovered: allowances are shared again');
    onRecovery();
    this.#phaseChanged();
  }

  /** Requests whose replies were lost may have been carried out later. */
  async #releaseUnknown(): Promise<void> {
    const { counters, process } = this.#options;
    const ids = (await counters.reservations(process)).filter((id) => !this.#open.has(id));
    await inTurns(ids, (id) => counters.charge(process, id, 0));
    await counters.forget(ids);
  }

  async #maintain(onBeat: () => Promise<void>): Promise<void> {
    const { counters, periods, mode, clock } = this.#options;
    const settled = this.#settled;
    this.#settled = [];
    await counters.forget(settled);
    if (mode === 'local') await periods.renewShares(counters, this.outage.portion.replicas, clock.now());
    await onBeat();
  }

  /** One that fails is sent again after the outage. */
  #send(reservation: RedisReservation): void {
    const { counters, periods, clock } = this.#options;
    const { process, id, claims, used } = reservation;
    const sending = counters.settle(process, id, used).then(
      (sums) => {
        periods.seen(claims, sums, clock.now());
        if (this.#open.get(id) === reservation) this.remove(reservation);
        if (process !== lasting) this.#settled.push(id);
      },
      (error: unknown) => this.failed(error),
    );
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }
}
