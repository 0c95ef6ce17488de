/** Keeps Redis informed of what this process holds: renewals, heartbeats, releases, and outages in between. */
import type { Logger } from 'pino';
import type { AdmissionRequest } from '../../ports/admission.ts';
import type { Clock } from './clock.ts';
import type { Fallback, UnreportedStarts } from './fallback.ts';
import type { Holdings, RedisGates, Release, Standing } from './redis-gates.ts';
import type { RedisLease, RedisLeases } from './redis-leases.ts';
import { Outage } from './redis-outage.ts';

export interface RedisSessionOptions {
  readonly gates: RedisGates;
  readonly leases: RedisLeases;
  readonly fallback: Fallback | undefined;
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  /** Where a waiter stands in the shared queue. */
  onStanding(id: string, standing: Standing | undefined): void;
  onOutage(): void;
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
    if (this.outage.active) this.releaseLater(release);
    else this.#sendRelease(release);
  }

  /** After its time to live Redis drops it by itself. */
  releaseLater(release: Release): void {
    const { clock, ttlMs } = this.#options;
    this.#orphans.set(release.id, { ...release, until: clock.now() + ttlMs });
  }

  /** A call has failed. */
  failed(error: unknown): void {
    if (!this.outage.begin() || this.#closed) return;
    const { fallback, log, ttlMs, onOutage } = this.#options;
    log?.warn(
      { err: error, fallback: fallback === undefined ? 'refuse' : 'local', replicas: this.outage.replicas },
      'Redis unavailable: admission is not shared',
    );
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
    const { gates, fallback, ttlMs } = this.#options;
    try {
      // Before the heartbeat: a process that reports has renewed what it runs.
      await this.#renew();
      const beat = await gates.heartbeat(this.outage.since);
      if (!this.#closed) {
        const recovered = this.outage.endBy(beat);
        this.#releaseOrphans();
        if (recovered) this.#recovered();
      }
    } catch (error) {
      fallback?.prune();
      this.failed(error);
    }
    // With jitter: after an outage processes do not all reconnect at the same moment.
    const quarter = ttlMs / 4;
    this.tickIn((this.outage.active ? Math.min(quarter, 500) : quarter) * (0.75 + Math.random() / 4));
  }

  #releaseOrphans(): void {
    const now = this.#options.clock.now();
    const orphans = [...this.#orphans.values()];
    this.#orphans.clear();
    for (const orphan of orphans) if (now < orphan.until) this.#sendRelease(orphan);
  }

  #recovered(): void {
    this.#options.log?.info('Redis recovered: admission is shared again');
    // What was started since the last renewal is reported before anything is requested.
    this.#renew().catch((error: unknown) => this.failed(error));
    this.#options.onRecovery();
  }

  async #renew(): Promise<void> {
    const { gates, leases, fallback, onStanding } = this.#options;
    const starts = fallback?.takeStarts() ?? [];
    try {
      await Promise.all(
        batches(collect(leases.all(), starts)).map(async (batch) => {
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
      fallback?.restoreStarts(starts);
      throw error;
    }
  }
}

const collect = (leases: Iterable<RedisLease>, starts: Iterable<UnreportedStarts>): Holdings[] => {
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
