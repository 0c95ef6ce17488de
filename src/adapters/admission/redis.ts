/** Admission of all replicas together: each decision one script in Redis, each wait ended by a message, each slot renewed while it is held. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import type { Admission, AdmissionRequest, AdmissionStats, Lease } from '../../ports/admission.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { Fallback } from './fallback.ts';
import { type Decision, type Heartbeat, RedisGates, type Standing } from './redis-gates.ts';
import { Orphans } from './redis-orphans.ts';
import { Absence } from './redis-outage.ts';
import { openWakes, type Wakes } from './redis-wakes.ts';
import { batches, collect } from './renewal.ts';
import { queueFull, type Rules, usualRules, waitOver } from './rules.ts';
import type { Visit } from './visit.ts';
import { Visits } from './visits.ts';

export interface RedisAdmissionOptions extends Partial<Rules> {
  /** First part of every key and channel. */
  readonly prefix?: string;
  /** Milliseconds after which the slots and queue places of a dead process are free again. */
  readonly ttlMs?: number;
  /** While Redis is away: refuse with 503, or go by limits of this process, divided by the number of replicas. */
  readonly fallback?: 'refuse' | 'local';
  /** Milliseconds after which a decision counts as not to be had. */
  readonly patience?: number;
  readonly log?: Logger;
  /** Virtual time instead of the server's. */
  readonly clock?: Clock;
}

export const createRedisAdmission = (url: string, options: RedisAdmissionOptions = {}): Admission =>
  new RedisAdmission(url, options);

class RedisAdmission implements Admission {
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #gates: RedisGates;
  readonly #wakes: Wakes;
  readonly #visits: Visits;
  /** Counts along, and decides while Redis is away; undefined: nobody decides then. */
  readonly #fallback: Fallback | undefined;
  readonly #absence: Absence;
  readonly #orphans: Orphans;
  #closed = false;
  #cancelTick: (() => void) | undefined;

  constructor(url: string, options: RedisAdmissionOptions) {
    const { prefix = 'sluice:', ttlMs = 12_000, fallback = 'local', patience = 1_000, log, clock } = options;
    const rules = { ...usualRules, ...options };
    const process = randomBytes(8).toString('hex');
    this.#ttlMs = ttlMs;
    this.#clock = clock ?? monotonicClock;
    this.#log = log;
    this.#absence = new Absence(ttlMs, this.#clock);
    this.#orphans = new Orphans(ttlMs, this.#clock);
    this.#gates = new RedisGates({
      url,
      prefix,
      process,
      rules,
      // The dead are found at the next tick of whoever waits: a quarter of the time is left for that.
      leaseMs: (ttlMs * 3) / 4,
      patience,
      now: clock === undefined ? undefined : () => clock.now(),
    });
    this.#wakes = openWakes({
      url,
      channel: this.#gates.channel,
      patience,
      onMessage: (text) => this.#heard(text),
      onReturn: () => this.#tickIn(Math.random() * 250),
    });
    this.#visits = new Visits({
      process,
      rules,
      clock: this.#clock,
      onLate: (visit) => this.#late(visit),
      onRelease: ({ id, request, startedAt }) => this.#giveBack(id, request, this.#clock.now() - startedAt),
    });
    if (fallback === 'local') this.#fallback = new Fallback(rules, this.#clock);
    this.#tickIn(0);
  }

  admit(request: AdmissionRequest): Observable<Lease> {
    return new Observable((subscriber) => {
      const visit = this.#visits.open(request, subscriber);
      this.#place(visit);
      return () => this.#leave(visit);
    });
  }

  stats(): AdmissionStats {
    const own = this.#visits.counters.stats(!this.#absence.isAway, this.#absence.replicas);
    const alone = this.#fallback?.stats();
    return {
      ...own,
      refusedByRate: own.refusedByRate + (alone?.refusedByRate ?? 0),
      refusedByQueue: own.refusedByQueue + (alone?.refusedByQueue ?? 0),
    };
  }

  async check(): Promise<void> {
    await this.#gates.check();
    await this.#wakes.ready();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTick?.();
    const farewells: Promise<void>[] = [this.#gates.depart()];
    for (const visit of this.#visits.all()) {
      farewells.push(this.#gates.release(visit.id, visit.request, 0));
      if (visit.phase === 'running') visit.release();
      else this.#visits.refuse(visit, fail('unavailable', 'The server is shutting down'));
    }
    await Promise.allSettled(farewells);
    this.#wakes.close();
    await this.#gates.close();
    await this.#fallback?.close();
  }

  // ── asking ───────────────────────────────────────────────────────────────────────────────────────

  #place(visit: Visit): void {
    if (this.#absence.isAway) {
      this.#placeElsewhere(visit);
      return;
    }
    const { id, request } = visit;
    visit.phase = 'asking';
    this.#gates.admit(id, request).then(
      (decision) => this.#decided(visit, id, decision),
      (error: unknown) => this.#unanswered(visit, id, error),
    );
  }

  #decided(visit: Visit, id: string, decision: Decision): void {
    const { request } = visit;
    if (visit.phase !== 'asking' || visit.id !== id) {
      // A message was quicker than this answer; or the client has left, and what it got goes back.
      const got = decision.kind === 'started' || decision.kind === 'waits';
      if (got && this.#visits.get(id) === undefined) this.#giveBack(id, request, 0);
    } else if (decision.kind === 'started') this.#grant(visit);
    else if (decision.kind === 'rateReached') this.#visits.refuseByRate(visit, decision.waitMs);
    else if (decision.kind === 'queueFull')
      this.#visits.refuseByQueue(visit, queueFull(request.model), decision.waitMs);
    else {
      visit.phase = 'queued';
      if (this.#visits.beginWait(visit, decision.position)) return;
      this.#giveBack(id, request, 0);
      this.#visits.refuseByQueue(visit, queueFull(request.model), 0);
    }
  }

  #unanswered(visit: Visit, id: string, error: unknown): void {
    this.#orphans.add({ id, request: visit.request, heldMs: 0 });
    this.#lost(error);
    if (visit.phase === 'asking' && visit.id === id) this.#placeElsewhere(visit);
  }

  #placeElsewhere(visit: Visit): void {
    if (this.#fallback !== undefined) this.#placeHere(visit, this.#fallback);
    else this.#visits.refuse(visit, unavailable());
  }

  #grant(visit: Visit): void {
    visit.slot ??= this.#fallback?.adopt(visit.request);
    this.#visits.grant(visit);
  }

  // ── waiting ──────────────────────────────────────────────────────────────────────────────────────

  /** Ids of those whose turn has come, apart by spaces; `id=microseconds` for one that found the window full. */
  #heard(text: string): void {
    for (const word of text.split(' ')) {
      const [id = '', wait] = word.split('=');
      const visit = this.#visits.get(id);
      if (visit === undefined || (visit.phase !== 'asking' && visit.phase !== 'queued')) continue;
      // The answer that it must wait, and where, is still on its way.
      visit.position ??= 1;
      if (wait === undefined) this.#grant(visit);
      else this.#visits.refuseByRate(visit, Number(wait) / 1000);
    }
  }

  #late(visit: Visit): void {
    const { id, request, phase } = visit;
    const refuse = (waitMs: number): void =>
      this.#visits.refuseByQueue(visit, waitOver(request.model), waitMs);
    if (phase === 'alone') {
      visit.line?.unsubscribe();
      refuse(0);
    } else if (phase === 'queued')
      this.#gates.giveUp(id, request).then(
        ({ standing, waitMs }) => {
          if (visit.phase !== 'queued' || visit.id !== id) return;
          if (standing === 'runs') this.#grant(visit);
          else refuse(waitMs);
        },
        (error: unknown) => {
          this.#orphans.add({ id, request, heldMs: 0 });
          this.#lost(error);
          if (visit.phase === 'queued') refuse(0);
        },
      );
  }

  #leave(visit: Visit): void {
    const { phase, id, request } = visit;
    if (phase === 'running' || phase === 'over') return;
    this.#visits.forget(visit);
    if (phase === 'alone') visit.line?.unsubscribe();
    // One that is still asking is given back when it has been decided.
    if (phase === 'queued') this.#giveBack(id, request, 0);
  }

  // ── giving back ──────────────────────────────────────────────────────────────────────────────────

  /** Nobody waits for this; what does not arrive is tried again at the next tick. */
  #giveBack(id: string, request: AdmissionRequest, heldMs: number): void {
    if (this.#closed) return;
    if (this.#absence.isAway) this.#orphans.add({ id, request, heldMs });
    else this.#tellRelease(id, request, heldMs);
  }

  #tellRelease(id: string, request: AdmissionRequest, heldMs: number): void {
    this.#gates.release(id, request, heldMs).catch((error: unknown) => {
      this.#orphans.add({ id, request, heldMs });
      this.#lost(error);
    });
  }

  // ── renewing, losing and finding Redis ───────────────────────────────────────────────────────────

  #tickIn(milliseconds: number): void {
    if (this.#closed) return;
    this.#cancelTick?.();
    this.#cancelTick = this.#clock.after(milliseconds, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    try {
      // Who is heard of has told what it runs.
      await this.#renew();
      const beat = await this.#gates.heartbeat(this.#absence.since);
      if (!this.#closed) this.#catchUp(beat);
    } catch (error) {
      this.#fallback?.prune();
      this.#lost(error);
    }
    // Each process at its own beat: after an outage they do not all come back in the same instant.
    const quarter = this.#ttlMs / 4;
    this.#tickIn((this.#absence.isAway ? Math.min(quarter, 500) : quarter) * (0.75 + Math.random() / 4));
  }

  /** Redis answers. Once all have told it what they run, those who waited here join the shared queues. */
  #catchUp(beat: Heartbeat): void {
    const isBack = this.#absence.ends(beat);
    for (const { id, request, heldMs } of this.#orphans.takeAll()) this.#tellRelease(id, request, heldMs);
    if (!isBack) return;
    this.#log?.info('admission is shared again: Redis is back');
    // What was started since the last renewal is told before anything is asked.
    this.#renew().catch((error: unknown) => this.#lost(error));
    for (const visit of this.#visits.all())
      if (visit.phase === 'alone') {
        visit.line?.unsubscribe();
        this.#place(visit);
      }
  }

  async #renew(): Promise<void> {
    const starts = this.#fallback?.takeStarts() ?? [];
    try {
      const all = batches(collect(this.#visits.all(), starts));
      await Promise.all(
        all.map(async (batch) => {
          const waiters = batch.flatMap((holdings) => holdings.waiters);
          const standings = await this.#gates.renew(batch);
          for (const [index, id] of waiters.entries()) this.#stands(id, standings[index]);
          // One released meanwhile may have been overtaken by its own renewal.
          for (const { request, runners } of batch)
            for (const id of runners) if (this.#visits.get(id) === undefined) this.#giveBack(id, request, 0);
        }),
      );
    } catch (error) {
      this.#fallback?.restoreStarts(starts);
      throw error;
    }
  }

  /** The message may have been missed; or Redis has forgotten all it knew, and the visit asks again. */
  #stands(id: string, standing: Standing | undefined): void {
    const visit = this.#visits.get(id);
    if (visit?.phase !== 'queued') return;
    if (standing === 'runs') this.#grant(visit);
    else if (standing === 'unknown') this.#place(visit);
  }

  #lost(error: unknown): void {
    if (!this.#absence.begins() || this.#closed) return;
    const how =
      this.#fallback === undefined
        ? 'requests are refused'
        : `this process goes by 1/${this.#absence.replicas}`;
    this.#log?.warn({ err: error }, `admission is not shared while Redis is away: ${how}`);
    this.#tickIn(Math.random() * Math.min(this.#ttlMs / 4, 500));
    const fallback = this.#fallback;
    if (fallback === undefined) return;
    // Also those whose answer may yet come: all go on in the order they came.
    for (const visit of this.#visits.all())
      if (visit.phase === 'asking' || visit.phase === 'queued') {
        this.#orphans.add({ id: visit.id, request: visit.request, heldMs: 0 });
        this.#placeHere(visit, fallback);
      }
  }

  /** Into the line of this process, under a new id: what Redis knows under the old one is given back. */
  #placeHere(visit: Visit, fallback: Fallback): void {
    this.#visits.rename(visit);
    visit.phase = 'alone';
    visit.line = fallback.admit(visit, this.#absence.replicas).subscribe({
      next: (slot) => {
        visit.slot = slot;
        if (slot.position !== undefined) visit.position ??= slot.position;
        this.#visits.grant(visit);
      },
      error: (error: ApiError) => this.#visits.refuse(visit, error),
    });
    if (visit.phase === 'alone' && !this.#visits.beginWait(visit, undefined))
      this.#visits.refuseByQueue(visit, queueFull(visit.request.model), 0);
  }
}

const unavailable = (): ApiError =>
  fail('unavailable', 'Requests cannot be admitted at the moment', {
    headers: { 'retry-after': '1' },
  });
