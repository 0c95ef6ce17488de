/** Admission by this process alone during an outage of Redis: its portion of the limits. */

import { catchError, type Observable, tap, throwError } from 'rxjs';
import { ApiError, fail } from '../../errors.ts';
import { emitted } from '../../helpers/emitted.ts';
import type { AdmissionRequest, AdmissionStats, Lease, Limits } from '../../ports/admission.ts';
import type { Clock } from './clock.ts';
import { createLocalAdmission, type LocalAdmission } from './local.ts';
import { gateOf, type RedisLease } from './redis-leases.ts';
import type { Portion } from './redis-outage.ts';
import type { Rules } from './rules.ts';
import { StartWindow } from './start-window.ts';
import { windowPortion } from './window-portion.ts';

/** Starts at one gate that Redis does not know of; they count from when it does. */
export interface UnreportedStarts {
  readonly gate: string;
  readonly request: AdmissionRequest;
  readonly window: StartWindow;
  readonly count: number;
}

interface FallbackOptions {
  readonly rules: Rules;
  readonly clock: Clock;
  /** Milliseconds between the first and the last process to notice an outage. */
  readonly noticeMs: number;
  /** The most that all processes can have started in the window before the outage. */
  mostStarted(request: AdmissionRequest): number;
}

export class Fallback {
  readonly #options: FallbackOptions;
  readonly #local: LocalAdmission;
  readonly #unreported = new Map<
    string,
    { readonly request: AdmissionRequest; readonly window: StartWindow }
  >();
  /** When the outage began, and how many of its own starts counted then, by gate. */
  #began = 0;
  #ownBefore: ReadonlyMap<string, number> = new Map();

  constructor(options: FallbackOptions) {
    this.#options = options;
    this.#local = createLocalAdmission({ ...options.rules, clock: options.clock });
  }

  /** Counts what Redis admits here too. */
  adopt(request: AdmissionRequest): Lease {
    return this.#local.adopt(request);
  }

  outageBegan(): void {
    this.#began = this.#options.clock.now();
    this.#ownBefore = new Map(this.ownStarts().map(({ gate, count }) => [gate, count]));
  }

  admit(lease: RedisLease, portion: Portion): Observable<Lease> {
    const { request } = lease;
    const { concurrency } = request.limits;
    const limits: Limits = {
      // At least one, even with more processes than slots.
      concurrency: Math.max(1, Math.floor(concurrency / portion.replicas)),
      requests_per_minute: this.#startsLeft(lease, portion),
    };
    if (limits.requests_per_minute === 0) return throwError(unavailable);
    const local = this.#local.admit({ ...request, limits });
    return emitted(local).pipe(
      tap(() => this.#countStart(lease)),
      // The client may not have exceeded its limit, only what this process may grant of it.
      catchError((error: unknown) =>
        throwError(() => (isPortionUsed(error, request.limits, limits) ? unavailable() : error)),
      ),
    );
  }

  /** How many starts may be in this process's window. */
  #startsLeft({ gate, request }: RedisLease, portion: Portion): number {
    const { rules, clock, noticeMs, mostStarted } = this.#options;
    return windowPortion(portion, {
      limit: request.limits.requests_per_minute,
      own: this.#ownBefore.get(gate) ?? 0,
      most: mostStarted(request),
      elapsed: clock.now() - this.#began,
      windowMs: rules.windowMs,
      // Waiters keep the number they were queued with.
      lateMs: rules.queueMs + noticeMs,
    });
  }

  /** All starts of this process that count, whether Redis knows of them or not. */
  ownStarts(): { readonly gate: string; readonly request: AdmissionRequest; readonly count: number }[] {
    return this.#local.starts().map(({ request, count }) => ({ gate: gateOf(request), request, count }));
  }

  /** All that still count; each is returned once. */
  takeStarts(): UnreportedStarts[] {
    this.prune();
    const now = this.#options.clock.now();
    const all = [...this.#unreported].map(([gate, { request, window }]) => ({
      gate,
      request,
      window,
      count: window.count(now),
    }));
    this.#unreported.clear();
    return all;
  }

  /** They could not be reported after all. */
  restoreStarts(starts: readonly UnreportedStarts[]): void {
    const now = this.#options.clock.now();
    for (const { gate, request, window, count } of starts) {
      const known = this.#unreported.get(gate);
      if (known === undefined) this.#unreported.set(gate, { request, window });
      else for (let restored = 0; restored < count; restored++) known.window.add(now);
    }
  }

  prune(): void {
    const now = this.#options.clock.now();
    for (const [gate, { window }] of this.#unreported)
      if (window.count(now) === 0) this.#unreported.delete(gate);
  }

  stats(): AdmissionStats {
    return this.#local.stats();
  }

  close(): Promise<void> {
    return this.#local.close();
  }

  #countStart({ gate, request }: RedisLease): void {
    const { clock, rules } = this.#options;
    const now = clock.now();
    let known = this.#unreported.get(gate);
    if (known === undefined) {
      known = { request, window: new StartWindow(rules.windowMs) };
      this.#unreported.set(gate, known);
    }
    known.window.count(now);
    known.window.add(now);
  }
}

const isPortionUsed = (error: unknown, limits: Limits, portion: Limits): boolean =>
  portion.requests_per_minute < limits.requests_per_minute &&
  error instanceof ApiError &&
  error.window?.remaining === 0;

export const unavailable = (): ApiError =>
  fail('unavailable', 'Requests cannot be admitted at the moment', {
    headers: { 'retry-after': '1' },
  });
