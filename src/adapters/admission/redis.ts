/** Admission shared by all replicas: each decision is one script in Redis, each wait ends with a message. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import type { LimitKind } from '../../../schemas/limits.ts';
import { type ApiError, fail } from '../../errors.ts';
import type {
  Admission,
  AdmissionRequest,
  AdmissionStats,
  Lease,
  RateWindow,
} from '../../ports/admission.ts';
import { type Channel, openChannel } from '../redis-channel.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { Fallback, unavailable } from './fallback.ts';
import { type Decision, RedisGates, type Standing } from './redis-gates.ts';
import { type RedisLease, RedisLeases } from './redis-leases.ts';
import { dataLost, RedisSession } from './redis-session.ts';
import { queueFull, type Rules, usualRules, waitOver } from './rules.ts';
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

export const createRedisAdmission = (url: string, options: RedisAdmissionOptions = {}): Admission =>
  new RedisAdmission(url, options);

class RedisAdmission implements Admission {
  readonly #gates: RedisGates;
  readonly #channel: Channel;
  readonly #leases: RedisLeases;
  readonly #session: RedisSession;
  readonly #clock: Clock;
  readonly #usage: SharedUsage;
  /** Counts along, and decides during an outage. */
  readonly #fallback: Fallback;
  /** Nothing is decided during an outage. */
  readonly #refuses: boolean;
  readonly #windowMs: number;
  #closed = false;

  constructor(url: string, options: RedisAdmissionOptions) {
    const { prefix = 'sluice:', ttlMs = 12_000, fallback = 'local', patience = 1_000, log } = options;
    const { clock = monotonicClock } = options;
    const rules = { ...usualRules, ...options };
    const process = randomBytes(8).toString('hex');
    this.#gates = new RedisGates({
      url,
      prefix,
      process,
      rules,
      // Expired slots are found at the next tick of a process with waiters: a quarter of the time is left for that.
      leaseMs: (ttlMs * 3) / 4,
      patience,
      now: options.clock === undefined ? undefined : () => clock.now(),
      // Even if it is back in a moment: others may have used their portions meanwhile, and have yet to report it.
      onLost: () => {
        if (!this.#refuses) this.#session.failed(new Error('The connection to Redis was lost'));
      },
    });
    this.#leases = new RedisLeases({
      process,
      rules,
      clock,
      onDeadline: (lease) => this.#expire(lease),
      onRelease: ({ id, request, startedAt }, usage) =>
        this.#session.release({ id, request, heldMs: clock.now() - startedAt, usage }),
    });
    this.#clock = clock;
    this.#refuses = fallback === 'refuse';
    this.#windowMs = rules.windowMs;
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
      onStanding: (id, standing) => this.#stands(id, standing),
      onOutage: () => this.#moveToLocal(),
      onSettling: () => this.#holdLocal(),
      onRecovery: () => this.#moveToShared(),
    });
    this.#channel = openChannel({
      url,
      channels: [this.#gates.channel, this.#gates.usageChannel],
      patience,
      onMessage: (channel, text) => {
        if (channel === this.#gates.channel) this.#notified(text);
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
      this.#ask(lease);
      return () => this.#cancel(lease);
    });
  }

  stats(): AdmissionStats {
    const { phase, portion } = this.#session.outage;
    const own = this.#leases.counters.stats(phase === 'shared', portion.replicas);
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
      farewells.push(this.#gates.release({ id: lease.id, request: lease.request, heldMs: 0 }));
      if (lease.phase === 'running') lease.release();
      else this.#leases.refuse(lease, fail('unavailable', 'The server is shutting down'));
    }
    await Promise.allSettled(farewells);
    this.#channel.close();
    await this.#gates.close();
    await this.#fallback.close();
  }

  #ask(lease: RedisLease): void {
    if (this.#session.outage.phase !== 'shared') {
      this.#askLocal(lease);
      return;
    }
    const { id, request } = lease;
    lease.phase = 'asking';
    const failed = (error: unknown): void => {
      this.#session.releaseLater({ id, request, heldMs: 0 });
      this.#session.failed(error);
      if (lease.phase === 'asking' && lease.id === id) this.#askLocal(lease);
    };
    this.#gates.admit(id, request).then((decision) => {
      this.#usage.repliedAt = this.#clock.now();
      if (decision.kind === 'lost') failed(dataLost());
      else this.#decided(lease, id, decision);
    }, failed);
  }

  #decided(lease: RedisLease, id: string, decision: Exclude<Decision, { kind: 'lost' }>): void {
    const { request } = lease;
    if (lease.phase !== 'asking' || lease.id !== id) {
      // A message was quicker than this reply; or the client has cancelled, and what it got is released.
      const got = decision.kind === 'started' || decision.kind === 'waits';
      if (got && this.#leases.get(id) === undefined) this.#session.release({ id, request, heldMs: 0 });
    } else if (decision.kind === 'started') {
      lease.window = this.#windowFrom(request, decision.starts);
      this.#grant(lease);
    } else if (decision.kind === 'rateReached')
      this.#leases.refuseByRate(lease, decision.waitMs, decision.limit);
    else if (decision.kind === 'queueFull')
      this.#leases.refuseByQueue(lease, queueFull(request.model), decision.waitMs);
    else {
      lease.phase = 'queued';
      if (this.#leases.beginWait(lease, decision.position)) return;
      this.#session.release({ id, request, heldMs: 0 });
      this.#leases.refuseByQueue(lease, queueFull(request.model), 0);
    }
  }

  #windowFrom({ limits }: AdmissionRequest, starts: number): RateWindow {
    const limit = limits.requests_per_minute;
    return {
      limit,
      remaining: Math.max(0, limit - starts),
      resetAt: this.#clock.now() + this.#windowMs,
    };
  }

  /** In the queue of this process, under a new id: what Redis has under the old one is released. */
  #askLocal(lease: RedisLease): void {
    if (this.#refuses) {
      this.#leases.refuse(lease, unavailable());
      return;
    }
    this.#leases.rename(lease);
    lease.phase = 'local';
    const { phase, portion } = this.#session.outage;
    if (phase === 'local')
      lease.localWait = this.#fallback.admit(lease, portion).subscribe({
        next: (slot) => {
          lease.localSlot = slot;
          if (slot.position !== undefined) lease.position ??= slot.position;
          this.#leases.grant(lease);
        },
        error: (error: ApiError) => this.#leases.refuse(lease, error),
      });
    if (lease.phase === 'local' && !this.#leases.beginWait(lease, undefined))
      this.#leases.refuseByQueue(lease, queueFull(lease.request.model), 0);
  }

  #grant(lease: RedisLease): void {
    lease.localSlot ??= this.#fallback.adopt(lease.request);
    this.#leases.grant(lease);
  }

  /** Ids that were started, separated by spaces; `id=microseconds=limit` for one that was refused by a rate. */
  #notified(text: string): void {
    for (const word of text.split(' ')) {
      const [id = '', wait, limit = 'requests_per_minute'] = word.split('=');
      const lease = this.#leases.get(id);
      if (lease === undefined || (lease.phase !== 'asking' && lease.phase !== 'queued')) continue;
      // The reply that it must wait, and where, is still on its way.
      lease.position ??= 1;
      if (wait === undefined) this.#grant(lease);
      else this.#leases.refuseByRate(lease, Number(wait) / 1000, limit as LimitKind);
    }
  }

  /** The message may have been missed; or Redis has lost its data, and the request asks again. */
  #stands(id: string, standing: Standing | undefined): void {
    const lease = this.#leases.get(id);
    if (lease?.phase !== 'queued') return;
    if (standing === 'runs') this.#grant(lease);
    else if (standing === 'unknown') this.#ask(lease);
  }

  #expire(lease: RedisLease): void {
    const { id, request, phase } = lease;
    const refuse = (waitMs: number): void =>
      this.#leases.refuseByQueue(lease, waitOver(request.model), waitMs);
    if (phase === 'local') {
      lease.localWait?.unsubscribe();
      refuse(0);
    } else if (phase === 'queued')
      this.#gates.giveUp(id, request).then(
        ({ standing, waitMs }) => {
          if (lease.phase !== 'queued' || lease.id !== id) return;
          if (standing === 'runs') this.#grant(lease);
          else refuse(waitMs);
        },
        (error: unknown) => {
          this.#session.releaseLater({ id, request, heldMs: 0 });
          this.#session.failed(error);
          if (lease.phase === 'queued') refuse(0);
        },
      );
  }

  #cancel(lease: RedisLease): void {
    const { phase, id, request } = lease;
    if (phase === 'running' || phase === 'over') return;
    this.#leases.remove(lease);
    if (phase === 'local') lease.localWait?.unsubscribe();
    // One that is still asking is released when it has been decided.
    if (phase === 'queued') this.#session.release({ id, request, heldMs: 0 });
  }

  /** Also those whose reply may still arrive, and those that waited for Redis to return: all keep their order of arrival. */
  #moveToLocal(): void {
    if (this.#refuses) return;
    for (const lease of this.#leases.all()) {
      if (lease.phase === 'asking' || lease.phase === 'queued')
        this.#session.releaseLater({ id: lease.id, request: lease.request, heldMs: 0 });
      else if (lease.phase !== 'local' || lease.localWait !== undefined) continue;
      this.#askLocal(lease);
    }
  }

  #holdLocal(): void {
    for (const lease of this.#leases.all()) {
      if (lease.phase !== 'local') continue;
      lease.localWait?.unsubscribe();
      lease.localWait = undefined;
    }
  }

  #moveToShared(): void {
    for (const lease of this.#leases.all())
      if (lease.phase === 'local') {
        lease.localWait?.unsubscribe();
        this.#ask(lease);
      }
  }
}
