/** Keeps Redis informed of what this process holds: renewals, heartbeats, releases, and outages in between. */
import type { Logger } from 'pino';
import type { AdmissionRequest } from '../../ports/admission.ts';
import type { Clock } from './clock.ts';
import type { Fallback, UnreportedStarts } from './fallback.ts';
import type { Holdings, RedisGates, Release, Standing } from './redis-gates.ts';
import type { RedisLease, RedisLeases } from './redis-leases.ts';
import { Outage } from './redis-outage.ts';
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
  #closed = false;
  #cancelTick: (() => void) | undefined;

  constructor(options: RedisSessionOptions) {
    this.#options = options;
    this.outage = new Outage(options.ttlMs, options.clock);
    this.tickIn(0);
  }

  /** Nobody waits for this; a release that fails is repeated at the next tick. */
  release(release: Release): void {
    if (this.#closed) return;
    if (this.outage.phase !== 'shared') this.releaseLater(release);
    else this.#sendRelease(release);
  }

  /** After its time to live Redis drops it by itself. */
  releaseLater(release: Release): void {
    const { clock, ttlMs } = this.#options;
    this.#orphans.set(release.id, { ...release, until: clock.now() + ttlMs });
  }

  /** A call has failed. */
  failed(error: unknown): void {
    const before = this.outage.begin();
    if (before === 'local' || this.#closed) return;
    const { fallback, usage, log, mode, ttlMs, onOutage } = this.#options;
    if (before === 'shared') {
      usage.outageBegan();
      fallback.outageBegan();
      log?.warn(
        { err: error, fallback: mode, replicas: this.outage.portion.replicas },
        'Redis unavailable: admission is not shared',
      );
    }
    this.tickIn(Math.random() * Math.min(ttlMs / 4, 500));
    onOutage();
  }

  tickIn(milliseconds: number): void {
    if (this.#closed) return;
    this.#cancelTick?.();
    this.#cancelTick = this.#options.clock.after(milliseconds, () => void this.#tick());
  }

  close(): void {
    this.#closed = true;
    this.#cancelTick?.();
  }

  #sendRelease(release: Release): void {
    this.#options.gates.release(release).catch((error: unknown) => {
      this.releaseLater(release);
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
      if (!this.#closed) {
        const begun = this.outage.next(beat);
        if (begun === 'settling') this.#options.onSettling();
        this.#releaseOrphans();
        if (begun === 'shared') this.#recovered();
      }
    } catch (error) {
      fallback.prune();
      this.failed(error);
    }
    this.tickIn(this.#pause());
  }

  get #settled(): boolean {
    return this.outage.phase !== 'local';
  }

  /** With jitter: after an outage processes do not all reconnect at the same moment. */
  #pause(): number {
    const quarter = this.#options.ttlMs / 4;
    // Requests wait while processes settle.
    const longest = { shared: quarter, local: 500, settling: 50 }[this.outage.phase];
    return Math.min(quarter, longest) * (0.75 + Math.random() / 4);
  }

  #releaseOrphans(): void {
    const now = this.#options.clock.now();
    const orphans = [...this.#orphans.values()];
    this.#orphans.clear();
    for (const orphan of orphans) if (now < orphan.until) this.#sendRelease(orphan);
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

const batches = (all: readonly Holdings[]): Holdings[][] => {
  const cut: Holdings[][] = [];
  let size = batchSize;
  for (const holdings of all) {
    if (size >= batchSize) {
      cut.push([]);
      size = 0;
    }
    cut.at(-1)?.push(holdings);
    size += 1 + holdings.runners.length + holdings.waiters.length;
  }
  return cut;
};
