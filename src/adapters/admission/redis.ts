/** Admission shared by all replicas: each decision is one script in Redis, each wait ends with a message. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { fail } from '../../errors.ts';
import type { Admission, AdmissionRequest, AdmissionStats, Lease } from '../../ports/admission.ts';
import { type Channel, openChannel } from '../redis-channel.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { Fallback } from './fallback.ts';
import { RedisGates } from './redis-gates.ts';
import { RedisLeases } from './redis-leases.ts';
import { RedisRequests } from './redis-requests.ts';
import { RedisSession } from './redis-session.ts';
import { type Rules, usualRules } from './rules.ts';
import { SharedUsage } from './shared-usage.ts';

export interface RedisAdmissionOptions extends Partial<Rules> {
  /** First part of every key and channel. */
  readonly prefix?: string;
  /** Milliseconds after which the slots and queue positions of a dead process are free again. */
  readonly ttlMs?: number;
  /** During an outage of Redis: refuse with 503, or decide in each process within its portion of the limits. */
  readonly fallback?: 'refuse' | 'local';
  /** Milliseconds after which a decision counts as failed. */
  readonly patience?: number;
  readonly log?: Logger;
  /** Virtual time instead of the server's. */
  readonly clock?: Clock;
}

export const createRedisAdmission = (redis: RedisAddress, options: RedisAdmissionOptions = {}): Admission =>
  new RedisAdmission(redis, options);

class RedisAdmission implements Admission {
  readonly #gates: RedisGates;
  readonly #channel: Channel;
  readonly #leases: RedisLeases;
  readonly #session: RedisSession;
  readonly #requests: RedisRequests;
  readonly #usage: SharedUsage;
  /** Counts along, and decides during an outage. */
  readonly #fallback: Fallback;
  #closed = false;

  constructor(redis: RedisAddress, options: RedisAdmissionOptions) {
    const { prefix = 'sluice:', ttlMs = 12_000, fallback = 'local', patience = 1_000, log } = options;
    const { clock = monotonicClock } = options;
    const rules = { ...usualRules, ...options };
    const refuses = fallback === 'refuse';
    const process = randomBytes(8).toString('hex');
    this.#gates = new RedisGates({
      redis,
      prefix,
      process,
      rules,
      clock,
      // Expired slots are found at the next tick of a process with waiters: a quarter of the time is left for that.
      leaseMs: (ttlMs * 3) / 4,
      patience,
      now: options.clock === undefined ? undefined : () => clock.now(),
      // Even if it is back in a moment: others may have used their portions meanwhile, and have yet to report it.
      onLost: () => {
        if (!refuses) this.#session.failed(new Error('The connection to Redis was lost'));
      },
    });
    this.#leases = new RedisLeases({
      process,
      rules,
      clock,
      onDeadline: (lease) => this.#requests.expire(lease),
      onRelease: ({ id, request, startedAt }, usage) =>
        this.#session.release({ id, request, heldMs: clock.now() - startedAt, usage }),
    });
    this.#usage = new SharedUsage(rules.windowMs, clock);
    this.#fallback = new Fallback({
      rules,
      clock,
      // A heartbeat, and the time until it fails; with a wide margin.
      noticeMs: ttlMs + 2 * patience,
      mostStarted: (request) =>
        this.#usage.mostStarted(this.#gates.gate(request), request.limits.requests_per_minute),
    });
    this.#session = new RedisSession({
      gates: this.#gates,
      leases: this.#leases,
      fallback: this.#fallback,
      usage: this.#usage,
      mode: fallback,
      ttlMs,
      clock,
      log,
      onStanding: (id, standing) => this.#requests.stands(id, standing),
      onOutage: () => this.#requests.moveToLocal(),
      onSettling: () => this.#requests.holdLocal(),
      onRecovery: () => this.#requests.moveToShared(),
    });
    this.#requests = new RedisRequests({
      gates: this.#gates,
      leases: this.#leases,
      session: this.#session,
      usage: this.#usage,
      fallback: this.#fallback,
      clock,
      refuses,
      windowMs: rules.windowMs,
    });
    this.#channel = openChannel({
      redis,
      channels: [this.#gates.channel, this.#gates.usageChannel],
      patience,
      onMessage: (channel, text) => {
        if (channel === this.#gates.channel) this.#requests.notified(text);
        else this.#usage.heard(text);
      },
      onLost: () => this.#usage.lost(),
      onSubscribed: (again) => {
        void this.#usage.sync(() => this.#gates.usage());
        if (again) this.#session.tickIn(Math.random() * 250);
      },
    });
  }

  admit(request: AdmissionRequest): Observable<Lease> {
    return new Observable((subscriber) => {
      const lease = this.#leases.open(request, subscriber);
      this.#requests.ask(lease);
      return () => this.#requests.cancel(lease);
    });
  }

  stats(): AdmissionStats {
    const { phase, portion } = this.#session.outage;
    const { replicas, established } = portion;
    const own = this.#leases.counters.stats({ shared: phase === 'shared', replicas, established });
    const local = this.#fallback.stats();
    return {
      ...own,
      refusedByRate: own.refusedByRate + local.refusedByRate,
      refusedByQueue: own.refusedByQueue + local.refusedByQueue,
    };
  }

  async check(): Promise<void> {
    await this.#gates.check();
    await this.#channel.ready();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#session.close();
    const farewells: Promise<void>[] = [this.#gates.depart()];
    for (const lease of this.#leases.all()) {
      const { id, request } = lease;
      farewells.push(this.#gates.release({ request, items: [{ id, request, heldMs: 0 }] }));
      if (lease.phase === 'running') lease.release();
      else this.#leases.refuse(lease, fail('unavailable', 'The server is shutting down'));
    }
    await Promise.allSettled(farewells);
    this.#channel.close();
    await this.#gates.close();
    await this.#fallback.close();
  }
}
