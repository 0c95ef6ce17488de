/** Admission by one process alone while Redis is away: its share of the limits, with what it had admitted before counted in. */
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
import { Unheard, type UnheardStarts } from './renewal.ts';
import type { Rules } from './rules.ts';
import type { Visit } from './visit.ts';

export class Fallback {
  readonly #local: LocalAdmission;
  readonly #unheard: Unheard;
  readonly #clock: Clock;

  constructor(rules: Rules, clock: Clock) {
    this.#local = createLocalAdmission({ ...rules, clock });
    this.#unheard = new Unheard(rules.windowMs);
    this.#clock = clock;
  }

  /** Counts along with what Redis admits. */
  adopt(request: AdmissionRequest): Lease {
    return this.#local.adopt(request);
  }

  admit(visit: Visit, replicas: number): Observable<Lease> {
    const { request } = visit;
    const lease = this.#local.admit({ ...request, limits: share(request.limits, replicas) });
    return leased(lease).pipe(tap(() => this.#unheard.add(visit, this.#clock.now())));
  }

  /** Starts that Redis is to be told of. */
  takeStarts(): UnheardStarts[] {
    return this.#unheard.take(this.#clock.now());
  }

  /** It could not be told after all. */
  restoreStarts(starts: readonly UnheardStarts[]): void {
    this.#unheard.restore(starts, this.#clock.now());
  }

  prune(): void {
    this.#unheard.prune(this.#clock.now());
  }

  stats(): AdmissionStats {
    return this.#local.stats();
  }

  close(): Promise<void> {
    return this.#local.close();
  }
}

/** Together no more than the whole; one each where there are more processes than slots. */
const share = ({ concurrency, requestsPerMinute }: Limits, replicas: number): Limits => ({
  concurrency: Math.max(1, Math.floor(concurrency / replicas)),
  requestsPerMinute: Math.max(1, Math.floor(requestsPerMinute / replicas)),
});
