/** Heartbeats of this process, the outages of Redis in between, and how it returns from them. */
import type { Logger } from 'pino';
import type { Clock } from '../admission/clock.ts';
import { Outage } from '../admission/redis-outage.ts';
import { dataLost } from '../admission/redis-session.ts';
import { RedisTicks } from '../admission/redis-ticks.ts';
import type { SharedUsage } from '../admission/shared-usage.ts';
import type { Fallback } from './fallback.ts';
import { inTurns, type Periods } from './periods.ts';
import type { RedisCounters } from './redis-counters.ts';
import type { RedisReservations } from './redis-reservations.ts';

interface RedisSessionOptions {
  readonly counters: RedisCounters;
  readonly reservations: RedisReservations;
  readonly periods: Periods;
  readonly fallback: Fallback;
  readonly usage: SharedUsage;
  /** What requests get during an outage. */
  readonly mode: 'refuse' | 'local';
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
  readonly #waiting = new Set<() => void>();
  /** Calls that failed so far: what was reported before the last of them may be lost. */
  #outages = 0;
  #raisedAfter = 0;
  readonly #ticks: RedisTicks;
  #onStarted: (() => void) | undefined;

  constructor(options: RedisSessionOptions) {
    const { clock, ttlMs } = options;
    this.#options = options;
    this.outage = new Outage(ttlMs, clock);
    this.started = new Promise((resolve) => {
      this.#onStarted = resolve;
    });
    this.#ticks = new RedisTicks({ clock, ttlMs, outage: this.outage, tick: () => this.#tick() });
  }

  /** A call has failed. */
  failed(error: unknown): void {
    const before = this.outage.begin();
    this.#outages++;
    if (before === 'local' || this.#ticks.closed) return;
    const { fallback, usage, log, mode } = this.#options;
    if (before === 'shared') {
      usage.outageBegan();
      fallback.outageBegan();
      log?.warn(
        { err: error, fallback: mode, replicas: this.outage.portion.replicas },
        'Redis unavailable: allowances are not shared',
      );
    }
    this.#ticks.soon();
    this.#phaseChanged();
  }

  get closed(): boolean {
    return this.#ticks.closed;
  }

  get outages(): number {
    return this.#outages;
  }

  /** Resolves when requests need not wait for processes to settle any more. */
  async decided(): Promise<void> {
    while (this.outage.phase === 'settling' && !this.#ticks.closed)
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
  }

  tickIn(milliseconds: number): void {
    this.#ticks.in(milliseconds);
  }

  close(): void {
    this.#ticks.close();
    this.#phaseChanged();
  }

  #phaseChanged(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  async #tick(): Promise<void> {
    const { counters, usage, clock } = this.#options;
    try {
      // What this process does alone is not in a report that is under way.
      const settled = this.outage.phase !== 'local';
      if (this.outage.phase !== 'shared') await this.#report();
      const { phase } = this.outage;
      const beat = await counters.processes.heartbeat(this.outage.since, settled && phase !== 'local');
      usage.repliedAt = clock.now();
      usage.prune();
      if (beat.lost) throw dataLost();
      if (!this.#ticks.closed && this.outage.next(beat) === 'shared') await this.#recover();
      if (!this.#ticks.closed && this.outage.phase === 'shared') await this.#maintain();
    } catch (error) {
      this.failed(error);
    }
    this.#onStarted?.();
  }

  /** Redis may have lost what it had, and never had what was decided here. */
  async #report(): Promise<void> {
    const { counters, reservations, periods, fallback } = this.#options;
    const outages = this.#outages;
    await reservations.report(outages);
    if (this.#raisedAfter !== outages) await periods.raise(counters);
    this.#raisedAfter = outages;
    await inTurns(fallback.windows(), (window) => counters.recount(window));
  }

  async #recover(): Promise<void> {
    const { reservations, usage, log, onRecovery } = this.#options;
    usage.outageEnded();
    reservations.sendSettled();
    await reservations.releaseUnknown();
    log?.info('Redis recovered: allowances are shared again');
    onRecovery();
    this.#phaseChanged();
  }

  async #maintain(): Promise<void> {
    const { counters, reservations, periods, mode, clock, onBeat } = this.#options;
    await reservations.forgetSettled();
    if (mode === 'local') await periods.renewShares(counters, this.outage.portion.replicas, clock.now());
    await onBeat();
  }
}
