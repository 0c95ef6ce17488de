/** Admission of all replicas together: each decision one script in Redis, each wait ended by a message, each slot renewed while it is held. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import type { Admission, AdmissionFigures, AdmissionRequest, Lease } from '../../ports/admission.ts';
import { type Clock, monotonicClock } from './clock.ts';
import { createLocalAdmission, type LocalAdmission } from './local.ts';
import { type Decision, RedisGates, type Standing } from './redis-gates.ts';
import { openWakes, type Wakes } from './redis-wakes.ts';
import { batches, collect, Unheard } from './renewal.ts';
import { queueFull, type Rules, rateReached, usualRules, waitOver } from './rules.ts';
import { Tally } from './tally.ts';
import { Visit } from './visit.ts';

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

/** What Redis may still hold though nobody here does: given back as soon as it can be told, or gone by itself in time. */
interface Orphan {
  readonly request: AdmissionRequest;
  readonly heldMs: number;
  readonly until: number;
}

export const createRedisAdmission = (url: string, options: RedisAdmissionOptions = {}): Admission =>
  new RedisAdmission(url, options);

class RedisAdmission implements Admission {
  readonly #rules: Rules;
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #gates: RedisGates;
  readonly #wakes: Wakes;
  readonly #process = randomBytes(8).toString('hex');
  readonly #tally = new Tally();
  /** Counts along, and decides while Redis is away; undefined: nobody decides then. */
  readonly #local: LocalAdmission | undefined;
  /** All who ask, wait or run here, in the order they came. */
  readonly #visits = new Map<string, Visit>();
  readonly #orphans = new Map<string, Orphan>();
  readonly #unheard: Unheard;
  #away = false;
  #replicas = 1;
  #lastId = 0;
  #closed = false;
  #cancelTick: (() => void) | undefined;

  constructor(url: string, options: RedisAdmissionOptions) {
    const { prefix = 'sluice:', ttlMs = 12_000, fallback = 'local', patience = 1_000, log, clock } = options;
    this.#rules = { ...usualRules, ...options };
    this.#ttlMs = ttlMs;
    this.#clock = clock ?? monotonicClock;
    this.#log = log;
    this.#unheard = new Unheard(this.#rules.windowMs);
    this.#gates = new RedisGates({
      url,
      prefix,
      process: this.#process,
      rules: this.#rules,
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
    if (fallback === 'local') this.#local = createLocalAdmission({ ...this.#rules, clock: this.#clock });
    this.#tickIn(0);
  }

  admit(request: AdmissionRequest): Observable<Lease> {
    return new Observable((subscriber) => {
      const visit = new Visit(this.#newId(), request, subscriber, this.#clock.now(), this.#release);
      this.#visits.set(visit.id, visit);
      this.#place(visit);
      return () => this.#leave(visit);
    });
  }

  figures(): AdmissionFigures {
    const own = this.#tally.figures(!this.#away);
    const alone = this.#local?.figures();
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
    for (const visit of [...this.#visits.values()]) {
      farewells.push(this.#gates.release(visit.id, visit.request, 0));
      if (visit.phase === 'running') visit.release();
      else this.#refuse(visit, fail('unavailable', 'The server is shutting down'));
    }
    if (!this.#away) await Promise.allSettled(farewells);
    else for (const farewell of farewells) farewell.catch(() => undefined);
    this.#wakes.close();
    await this.#gates.close();
    await this.#local?.close();
  }

  // ── asking ───────────────────────────────────────────────────────────────────────────────────────

  #place(visit: Visit): void {
    if (this.#away && this.#local !== undefined) this.#placeHere(visit, this.#local);
    else {
      const { id } = visit;
      visit.phase = 'asking';
      this.#gates.admit(id, visit.request).then(
        (decision) => this.#decided(visit, id, decision),
        (error: unknown) => this.#unanswered(visit, id, error),
      );
    }
  }

  #decided(visit: Visit, id: string, decision: Decision): void {
    // A message may have been quicker than this answer; or the client has left, and what it got goes back.
    if (visit.phase !== 'asking' || visit.id !== id) {
      const got = decision.kind === 'started' || decision.kind === 'waits';
      if (got && !this.#visits.has(id)) this.#giveBack(id, visit.request, 0);
      return;
    }
    const { model } = visit.request;
    if (decision.kind === 'started') this.#grant(visit);
    else if (decision.kind === 'waits') this.#queue(visit, decision.position);
    else if (decision.kind === 'rateReached') this.#refuseByRate(visit, decision.waitMs);
    else this.#refuseByQueue(visit, queueFull(model, decision.waitMs));
  }

  #unanswered(visit: Visit, id: string, error: unknown): void {
    this.#orphan(id, visit.request, 0);
    this.#lost(error);
    if (visit.phase !== 'asking' || visit.id !== id) return;
    if (this.#local !== undefined) this.#placeHere(visit, this.#local);
    else this.#refuse(visit, unavailable(error));
  }

  // ── waiting ──────────────────────────────────────────────────────────────────────────────────────

  #queue(visit: Visit, position: number): void {
    visit.phase = 'queued';
    if (this.#beginWait(visit, position)) return;
    this.#giveBack(visit.id, visit.request, 0);
    this.#refuseByQueue(visit, queueFull(visit.request.model, 0));
  }

  /** False when so many wait in this process that it cannot. */
  #beginWait(visit: Visit, position: number | undefined): boolean {
    if (visit.late) this.#waitIsOver(visit);
    if (visit.late || visit.cancelDeadline !== undefined) return true;
    if (this.#tally.waiting >= this.#rules.waiting) return false;
    if (position !== undefined) visit.position ??= position;
    this.#tally.waiting++;
    const left = visit.arrived + this.#rules.queueMs - this.#clock.now();
    visit.cancelDeadline = this.#clock.after(Math.max(0, left), () => {
      visit.late = true;
      this.#waitIsOver(visit);
    });
    return true;
  }

  #endWait(visit: Visit): void {
    if (visit.cancelDeadline === undefined) return;
    visit.cancelDeadline();
    visit.cancelDeadline = undefined;
    this.#tally.waiting--;
  }

  #waitIsOver(visit: Visit): void {
    const { id, request } = visit;
    if (visit.phase === 'alone') {
      visit.line?.unsubscribe();
      this.#refuseByQueue(visit, waitOver(request.model, 0));
    } else if (visit.phase === 'queued')
      this.#gates.giveUp(id, request).then(
        ({ standing, waitMs }) => {
          if (visit.phase !== 'queued' || visit.id !== id) return;
          if (standing === 'runs') this.#grant(visit);
          else this.#refuseByQueue(visit, waitOver(request.model, waitMs));
        },
        (error: unknown) => {
          this.#orphan(id, request, 0);
          this.#lost(error);
          if (visit.phase === 'queued') this.#refuseByQueue(visit, waitOver(request.model, 0));
        },
      );
  }

  /** Ids of those whose turn has come, apart by spaces; `id=microseconds` for one that found the window full. */
  #heard(text: string): void {
    for (const word of text.split(' ')) {
      const [id = '', wait] = word.split('=');
      const visit = this.#visits.get(id);
      if (visit === undefined || (visit.phase !== 'asking' && visit.phase !== 'queued')) continue;
      // The answer that it must wait, and where, is still on its way.
      if (visit.phase === 'asking') visit.position ??= 1;
      if (wait === undefined) this.#grant(visit);
      else this.#refuseByRate(visit, Number(wait) / 1000);
    }
  }

  // ── outcomes ─────────────────────────────────────────────────────────────────────────────────────

  #grant(visit: Visit): void {
    this.#endWait(visit);
    const now = this.#clock.now();
    visit.phase = 'running';
    visit.startedAt = now;
    this.#tally.running++;
    this.#tally.admitted++;
    if (visit.position !== undefined) {
      visit.waited = now - visit.arrived;
      this.#tally.waited++;
      this.#tally.waitedMs += visit.waited;
    }
    visit.slot ??= this.#local?.adopt(visit.request);
    visit.subscriber.next(visit);
    visit.subscriber.complete();
  }

  #refuse(visit: Visit, error: ApiError): void {
    this.#endWait(visit);
    visit.phase = 'over';
    this.#visits.delete(visit.id);
    visit.subscriber.error(error);
  }

  #refuseByRate(visit: Visit, waitMs: number): void {
    this.#tally.refusedByRate++;
    const { model, limits } = visit.request;
    this.#refuse(visit, rateReached(model, limits.requestsPerMinute, waitMs));
  }

  #refuseByQueue(visit: Visit, error: ApiError): void {
    this.#tally.refusedByQueue++;
    this.#refuse(visit, error);
  }

  #leave(visit: Visit): void {
    const { phase, id, request } = visit;
    if (phase === 'running' || phase === 'over') return;
    this.#endWait(visit);
    visit.phase = 'over';
    this.#visits.delete(id);
    if (phase === 'alone') visit.line?.unsubscribe();
    // One that is still asking is given back when it has been decided.
    if (phase === 'queued') this.#giveBack(id, request, 0);
  }

  #release = (visit: Visit): void => {
    if (visit.phase !== 'running') return;
    visit.phase = 'over';
    this.#visits.delete(visit.id);
    this.#tally.running--;
    visit.slot?.release();
    if (!this.#closed) this.#giveBack(visit.id, visit.request, this.#clock.now() - visit.startedAt);
  };

  /** Nobody waits for this; what does not arrive is tried again with the next renewals. */
  #giveBack(id: string, request: AdmissionRequest, heldMs: number): void {
    if (this.#away) this.#orphan(id, request, heldMs);
    else
      this.#gates.release(id, request, heldMs).catch((error: unknown) => {
        this.#orphan(id, request, heldMs);
        this.#lost(error);
      });
  }

  #orphan(id: string, request: AdmissionRequest, heldMs: number): void {
    this.#orphans.set(id, { request, heldMs, until: this.#clock.now() + this.#ttlMs });
  }

  // ── renewing, leaving and finding Redis ──────────────────────────────────────────────────────────

  #tickIn(milliseconds: number): void {
    if (this.#closed) return;
    this.#cancelTick?.();
    this.#cancelTick = this.#clock.after(milliseconds, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    try {
      this.#replicas = Math.max(1, await this.#gates.heartbeat());
      if (!this.#closed) await this.#catchUp();
    } catch (error) {
      this.#unheard.prune(this.#clock.now());
      this.#lost(error);
    }
    // Each process at its own beat: after an outage they do not all come back in the same instant.
    const quarter = this.#ttlMs / 4;
    this.#tickIn((this.#away ? Math.min(quarter, 1_000) : quarter) * (0.75 + Math.random() / 4));
  }

  /** Redis answers. What runs here is told first, then those who waited here join the shared queues. */
  async #catchUp(): Promise<void> {
    const wasAway = this.#away;
    this.#away = false;
    const renewed = this.#renew();
    const now = this.#clock.now();
    for (const [id, { request, heldMs, until }] of [...this.#orphans]) {
      this.#orphans.delete(id);
      if (now < until) this.#giveBack(id, request, heldMs);
    }
    if (wasAway) {
      this.#log?.info('admission is shared again: Redis is back');
      for (const visit of [...this.#visits.values()])
        if (visit.phase === 'alone') {
          visit.line?.unsubscribe();
          this.#place(visit);
        }
    }
    await renewed;
  }

  async #renew(): Promise<void> {
    const starts = this.#unheard.take(this.#clock.now());
    try {
      const all = batches(collect(this.#visits.values(), starts));
      await Promise.all(
        all.map(async (batch) => {
          const waiters = batch.flatMap((holdings) => holdings.waiters);
          const standings = await this.#gates.renew(batch);
          for (const [index, id] of waiters.entries()) this.#stands(id, standings[index]);
          // One released meanwhile may have been overtaken by its own renewal.
          for (const { request, runners } of batch)
            for (const id of runners) if (!this.#visits.has(id)) this.#giveBack(id, request, 0);
        }),
      );
    } catch (error) {
      this.#unheard.restore(starts, this.#clock.now());
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
    if (this.#away || this.#closed) return;
    this.#away = true;
    const how =
      this.#local === undefined ? 'requests are refused' : `this process goes by 1/${this.#replicas}`;
    this.#log?.warn({ err: error }, `admission is not shared while Redis is away: ${how}`);
    this.#tickIn(Math.random() * Math.min(this.#ttlMs / 4, 1_000));
    const local = this.#local;
    if (local === undefined) return;
    for (const visit of [...this.#visits.values()])
      if (visit.phase === 'queued') {
        this.#orphan(visit.id, visit.request, 0);
        this.#placeHere(visit, local);
      }
  }

  /** Into the line of this process, under a new id: what Redis knows under the old one is given back. */
  #placeHere(visit: Visit, local: LocalAdmission): void {
    this.#visits.delete(visit.id);
    visit.id = this.#newId();
    visit.phase = 'alone';
    this.#visits.set(visit.id, visit);
    const { limits } = visit.request;
    const request = {
      ...visit.request,
      limits: {
        concurrency: Math.max(1, Math.floor(limits.concurrency / this.#replicas)),
        requestsPerMinute: Math.max(1, Math.floor(limits.requestsPerMinute / this.#replicas)),
      },
    };
    visit.line = local.admit(request).subscribe({
      next: (slot) => {
        visit.slot = slot;
        if (slot.position !== undefined) visit.position ??= slot.position;
        this.#unheard.add(visit, this.#clock.now());
        this.#grant(visit);
      },
      error: (error: ApiError) => this.#refuse(visit, error),
    });
    if (visit.phase === 'alone' && !this.#beginWait(visit, undefined))
      this.#refuseByQueue(visit, queueFull(visit.request.model, 0));
  }

  #newId(): string {
    this.#lastId++;
    return `${this.#process}.${this.#lastId.toString(36)}`;
  }
}

const unavailable = (cause: unknown): ApiError =>
  fail('unavailable', 'Requests cannot be admitted at the moment', {
    cause,
    headers: { 'retry-after': '1' },
  });
