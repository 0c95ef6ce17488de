/** Admission by this process alone during an outage of Redis: its quota of the limits. */
import { type Observable, tap } from 'rxjs';
import {
  type AdmissionRequest,
  type AdmissionStats,
  type Lease,
  type Limits,
  leased,
} from '../../ports/admission.ts';
import type { Clock } from './clock.ts';
import { createLocalAdmission, type LocalAdmission } from './local.ts';
import type { RedisLease } from './redis-leases.ts';
import type { Rules } from './rules.ts';
import { StartWindow } from './start-window.ts';

/** Starts at one gate that Redis does not know of; they count from when it does. */
export interface UnreportedStarts {
  readonly gate: string;
  readonly request: AdmissionRequest;
  readonly window: StartWindow;
  readonly count: number;
}

export class Fallback {
  readonly #local: LocalAdmission;
  readonly #windowMs: number;
  readonly #clock: Clock;
  readonly #unreported = new Map<
    string,
    { readonly request: AdmissionRequest; readonly window: StartWindow }
  >();

  constructor(rules: Rules, clock: Clock) {
    this.#local = createLocalAdmission({ ...rules, clock });
    this.#windowMs = rules.windowMs;
    this.#clock = clock;
  }

  /** Counts what Redis admits here too. */
  adopt(request: AdmissionRequest): Lease {
    return this.#local.adopt(request);
  }

  admit(lease: RedisLease, replicas: number): Observable<Lease> {
    const { request } = lease;
    const local = this.#local.admit({ ...request, limits: quota(request.limits, replicas) });
    return leased(local).pipe(tap(() => this.#countStart(lease)));
  }

  /** All that still count; each is returned once. */
  takeStarts(): UnreportedStarts[] {
    this.prune();
    const now = this.#clock.now();
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
    const now = this.#clock.now();
    for (const { gate, request, window, count } of starts) {
      const known = this.#unreported.get(gate);
      if (known === undefined) this.#unreported.set(gate, { request, window });
      else for (let restored = 0; restored < count; restored++) known.window.add(now);
    }
  }

  prune(): void {
    const now = this.#clock.now();
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
    const now = this.#clock.now();
    let known = this.#unreported.get(gate);
    if (known === undefined) {
      known = { request, window: new StartWindow(this.#windowMs) };
      this.#unreported.set(gate, known);
    }
    known.window.count(now);
    known.window.add(now);
  }
}

/** Together no more than the whole; at least one each, even with more processes than slots. */
const quota = (limits: Limits, replicas: number): Limits =>
  Object.fromEntries(
    Object.entries(limits).map(([kind, limit]) => [kind, Math.max(1, Math.floor(limit / replicas))]),
  ) as Limits;
