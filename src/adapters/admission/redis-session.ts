/** Keeps Redis informed of what this process holds: renewals, heartbeats, releases, and outages in between. */
import type { Logger } from 'pino';
import type { AdmissionRequest } from '../../ports/admission.ts';
import { partitionOf } from '../redis-partitions.ts';
import type { Clock } from './clock.ts';
import type { Fallback, UnreportedStarts } from './fallback.ts';
import { GateBatches } from './gate-batches.ts';
import type { Holdings, RedisGates, Release, Standing } from './redis-gates.ts';
import type { RedisLease, RedisLeases } from './redis-leases.ts';
import { Outage } from './redis-outage.ts';
import { RedisTicks } from './redis-ticks.ts';
import type { SharedUsage } from './shared-usage.ts';

interface RedisSessionOptions {
  readonly gates: RedisGates;
  readonly leases: RedisLeases;
  readonly fallback: Fallback;
  readonly usage: SharedUsage;
  /** What requests get during an outage; for the log. */
  readonly mode: 'refuse' | 'local';
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  /** Where a waiter stands in the shared queue. */
  onStanding(id: string, standing: Standing | undefined): void;
  onOutage(): void;
  /** Redis is available again; nothing may start until `onRecovery`. */
  onSettling(): void;
  onRecovery(): void;
}

/** What Redis may still hold though this process does not. */
interface Orphan extends Release {
  readonly until: number;
}

export class RedisSession {
  readonly outage: Outage;
  readonly #options: RedisSessionOptions;
  readonly #orphans = new Map<string, Orphan>();
  readonly #released = new GateBatches<Release>(batchSize);
  readonly #ticks: RedisTicks;

  constructor(options: RedisSessionOptions) {
    const { clock, ttlMs } = options;
    this.#options = options;
    this.outage = new Outage(ttlMs, clock);
    this.#ticks = new RedisTicks({ clock, ttlMs, outage: this.outage, tick: () => this.#tick() });
  }

  /** Nobody waits for this; a release that fails is repeated at the next tick. */
  release(release: Release): void {
    if (this.#ticks.closed) return;
    if (this.outage.phase !== 'shared') this.releaseLater(release);
    else this.#sendSoon(release);
  }

  /** After its time to live Redis drops it by itself. */
  releaseLater(release: Release): void {
    const { clock, ttlMs } = this.#options;
    this.#orphans.set(release.id, { ...release, until: clock.now() + ttlMs });
  }

  /** A call has failed. */
  failed(error: unknown): void {
    const before = this.outage.begin();
    if (before === 'local' || this.#ticks.closed) return;
    const { fallback, usage, log, mode, onOutage } = this.#options;
    if (before === 'shared') {
      usage.outageBegan();
      fallback.outageBegan();
      log?.warn(
        { err: error, fallback: mode, replicas: this.outage.portion.replicas },
        'Redis unavailable: admission is not shared',
      );
    }
    this.#ticks.soon();
    onOutage();
  }

  tickIn(milliseconds: number): void {
    this.#ticks.in(milliseconds);
  }

  close(): void {
    this.#sendReleases();
    this.#ticks.close();
  }

  #sendSoon(release: Release): void {
    if (this.#released.isEmpty) this.#options.gates.atTurnEnd(() => this.#sendReleases());
    this.#released.add(release.request, release);
  }

  #sendReleases(): void {
    for (const batch of this.#released.take())
      this.#options.gates.release(batch).catch((error: unknown) => {
        for (const release of batch.items) this.releaseLater(release);
        this.failed(error);
      });
  }

  async #tick(): Promise<void> {
    const { gates, fallback, usage, clock } = this.#options;
    try {
      // A start of this process alone is not in a renewal that is under way.
      const settled = this.#settled;
      // Before the heartbeat: a process that reports has renewed what it runs.
      await this.#renew();
      const beat = await gates.heartbeat(this.outage.since, settled && this.#settled);
      usage.repliedAt = clock.now();
      usage.prune();
      if (beat.lost && this.outage.phase === 'shared') throw dataLost();
      if (!this.#ticks.closed) {
        const begun = this.outage.next(beat);
        if (begun === 'settling') this.#options.onSettling();
        this.#releaseOrphans();
        if (begun === 'shared') this.#recovered();
      }
    } catch (error) {
      fallback.prune();
      this.failed(error);
    }
  }

  get #settled(): boolean {
    return this.outage.phase !== 'local';
  }

  #releaseOrphans(): void {
    const now = this.#options.clock.now();
    const orphans = [...this.#orphans.values()];
    this.#orphans.clear();
    for (const orphan of orphans) if (now < orphan.until) this.#sendSoon(orphan);
  }

  #recovered(): void {
    const { usage, log, onRecovery } = this.#options;
    usage.outageEnded();
    log?.info('Redis recovered: admission is shared again');
    onRecovery();
  }

  async #renew(): Promise<void> {
    const { gates, leases, fallback, onStanding } = this.#options;
    const starts = fallback.takeStarts();
    // Redis may have lost data, and with it starts that it had counted.
    const own = this.outage.phase === 'shared' ? [] : fallback.ownStarts();
    try {
      await Promise.all(
        batches(collect(leases.all(), starts, own)).map(async (batch) => {
          const waiters = batch.flatMap((holdings) => holdings.waiters);
          const standings = await gates.renew(batch);
          for (const [index, id] of waiters.entries()) onStanding(id, standings[index]);
          // One released meanwhile may have been overtaken by its own renewal.
          for (const { request, runners } of batch)
            for (const id of runners)
              if (leases.get(id) === undefined) this.release({ id, request, heldMs: 0 });
        }),
      );
    } catch (error) {
      fallback.restoreStarts(starts);
      throw error;
    }
  }
}

/** An outage like any other: all processes report what they started before anything is decided. */
export const dataLost = (): Error => new Error('Redis has lost its data');

const collect = (
  leases: Iterable<RedisLease>,
  starts: Iterable<UnreportedStarts>,
  own: ReturnType<Fallback['ownStarts']>,
): Holdings[] => {
  const gates = new Map<string, Holdings>();
  const at = (gate: string, request: AdmissionRequest): Holdings => {
    let holdings = gates.get(gate);
    if (holdings === undefined) {
      holdings = { request, starts: 0, runners: [], waiters: [] };
      gates.set(gate, holdings);
    }
    return holdings;
  };
  for (const { gate, request, count } of starts) at(gate, request).starts += count;
  for (const { gate, request, count } of own) at(gate, request).own = count;
  for (const { phase, gate, request, id } of leases) {
    if (phase === 'running') at(gate, request).runners.push(id);
    else if (phase === 'queued') at(gate, request).waiters.push(id);
  }
  return [...gates.values()];
};

/** Ids and gates in one call: well under a millisecond of the server's time. */
const batchSize = 500;

/** Each of one partition. */
const batches = (all: readonly Holdings[]): Holdings[][] => {
  const cut: Holdings[][] = [];
  const open = new Map<number, { readonly batch: Holdings[]; size: number }>();
  for (const holdings of all) {
    const partition = partitionOf(holdings.request.subscription);
    let last = open.get(partition);
    if (last === undefined || last.size >= batchSize) {
      last = { batch: [], size: 0 };
      open.set(partition, last);
      cut.push(last.batch);
    }
    last.batch.push(holdings);
    last.size += 1 + holdings.runners.length + holdings.waiters.length;
  }
  return cut;
};
