/** Takes a request through admission by Redis: asks, queues it there or in this process, starts or refuses it. */
import type { LimitKind } from '../../../schemas/limits.ts';
import type { ApiError } from '../../errors.ts';
import type { AdmissionRequest, RateWindow } from '../../ports/admission.ts';
import type { Clock } from './clock.ts';
import { type Fallback, unavailable } from './fallback.ts';
import type { Decision, RedisGates, Standing } from './redis-gates.ts';
import type { RedisLease, RedisLeases } from './redis-leases.ts';
import { dataLost, type RedisSession } from './redis-session.ts';
import { queueFull, waitOver } from './rules.ts';
import type { SharedUsage } from './shared-usage.ts';

interface RedisRequestsOptions {
  readonly gates: RedisGates;
  readonly leases: RedisLeases;
  readonly session: RedisSession;
  readonly usage: SharedUsage;
  readonly fallback: Fallback;
  readonly clock: Clock;
  /** Nothing is decided during an outage. */
  readonly refuses: boolean;
  readonly windowMs: number;
}

export class RedisRequests {
  readonly #gates: RedisGates;
  readonly #leases: RedisLeases;
  readonly #session: RedisSession;
  readonly #usage: SharedUsage;
  readonly #fallback: Fallback;
  readonly #clock: Clock;
  readonly #refuses: boolean;
  readonly #windowMs: number;

  constructor(options: RedisRequestsOptions) {
    this.#gates = options.gates;
    this.#leases = options.leases;
    this.#session = options.session;
    this.#usage = options.usage;
    this.#fallback = options.fallback;
    this.#clock = options.clock;
    this.#refuses = options.refuses;
    this.#windowMs = options.windowMs;
  }

  ask(lease: RedisLease): void {
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
    const decided = (decision: Decision): void => {
      this.#usage.repliedAt = this.#clock.now();
      if (decision.kind === 'lost') failed(dataLost());
      else this.#decided(lease, id, decision);
    };
    this.#gates.admit({ id, decided, failed }, request);
  }

  /** The client is gone. */
  cancel(lease: RedisLease): void {
    const { phase, id, request } = lease;
    if (phase === 'running' || phase === 'over') return;
    this.#leases.remove(lease);
    if (phase === 'local') lease.localWait?.unsubscribe();
    // One that is still asking is released when it has been decided.
    if (phase === 'queued') this.#session.release({ id, request, heldMs: 0 });
  }

  /** It has waited as long as it may. */
  expire(lease: RedisLease): void {
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

  /** Ids that were started, separated by spaces; `id=microseconds=limit` for one that was refused by a rate. */
  notified(text: string): void {
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
  stands(id: string, standing: Standing | undefined): void {
    const lease = this.#leases.get(id);
    if (lease?.phase !== 'queued') return;
    if (standing === 'runs') this.#grant(lease);
    else if (standing === 'unknown') this.ask(lease);
  }

  /** With those whose reply may still arrive, and those that wait for Redis: in order of arrival. */
  moveToLocal(): void {
    if (this.#refuses) return;
    for (const lease of this.#leases.all()) {
      if (lease.phase === 'asking' || lease.phase === 'queued')
        this.#session.releaseLater({ id: lease.id, request: lease.request, heldMs: 0 });
      else if (lease.phase !== 'local' || lease.localWait !== undefined) continue;
      this.#askLocal(lease);
    }
  }

  /** Redis is available again: nothing starts until all processes have reported. */
  holdLocal(): void {
    for (const lease of this.#leases.all()) {
      if (lease.phase !== 'local') continue;
      lease.localWait?.unsubscribe();
      lease.localWait = undefined;
    }
  }

  moveToShared(): void {
    for (const lease of this.#leases.all())
      if (lease.phase === 'local') {
        lease.localWait?.unsubscribe();
        this.ask(lease);
      }
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
}
