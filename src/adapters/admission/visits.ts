/** All requests that ask, wait or run in this process: their outcomes told, their waits timed, everything counted. */
import type { Subscriber } from 'rxjs';
import type { ApiError } from '../../errors.ts';
import type { AdmissionRequest, Lease, LeaseUsage } from '../../ports/admission.ts';
import { AdmissionCounters } from './admission-counters.ts';
import type { Clock } from './clock.ts';
import { type Rules, rateReached, refusal } from './rules.ts';
import { Visit } from './visit.ts';

export interface VisitsOptions {
  /** First part of every id. */
  readonly process: string;
  readonly rules: Rules;
  readonly clock: Clock;
  /** A slot was given back. */
  onRelease(visit: Visit): void;
  /** A request has waited for as long as it may. */
  onLate(visit: Visit): void;
}

export class Visits {
  readonly counters = new AdmissionCounters();
  readonly #options: VisitsOptions;
  /** In the order they came. */
  readonly #byId = new Map<string, Visit>();
  #lastId = 0;

  constructor(options: VisitsOptions) {
    this.#options = options;
  }

  open(request: AdmissionRequest, subscriber: Subscriber<Lease>): Visit {
    const visit = new Visit(this.#newId(), request, subscriber, this.#options.clock.now(), this.#release);
    this.#byId.set(visit.id, visit);
    return visit;
  }

  get(id: string): Visit | undefined {
    return this.#byId.get(id);
  }

  /** Those of now: visits may come and go while they are gone through. */
  all(): Visit[] {
    return [...this.#byId.values()];
  }

  rename(visit: Visit): void {
    this.#byId.delete(visit.id);
    visit.id = this.#newId();
    this.#byId.set(visit.id, visit);
  }

  /** False when so many wait in this process that it cannot. One that has moved goes on waiting. */
  beginWait(visit: Visit, position: number | undefined): boolean {
    const { rules, clock, onLate } = this.#options;
    if (visit.late) onLate(visit);
    if (visit.late || visit.cancelDeadline !== undefined) return true;
    if (this.counters.waiting >= rules.waiting) return false;
    if (position !== undefined) visit.position ??= position;
    this.counters.waiting++;
    const left = visit.arrived + rules.queueMs - clock.now();
    visit.cancelDeadline = clock.after(Math.max(0, left), () => {
      visit.late = true;
      onLate(visit);
    });
    return true;
  }

  grant(visit: Visit): void {
    this.#endWait(visit);
    visit.phase = 'running';
    visit.startedAt = this.#options.clock.now();
    this.counters.running++;
    this.counters.admitted++;
    if (visit.position !== undefined) {
      visit.waited = visit.startedAt - visit.arrived;
      this.counters.waited++;
      this.counters.waitedMs += visit.waited;
    }
    visit.subscriber.next(visit);
    visit.subscriber.complete();
  }

  refuse(visit: Visit, error: ApiError): void {
    this.forget(visit);
    visit.subscriber.error(error);
  }

  refuseByRate(visit: Visit, waitMs: number): void {
    this.counters.refusedByRate++;
    const { model, limits } = visit.request;
    this.refuse(visit, refusal(rateReached(model, limits.requestsPerMinute), waitMs));
  }

  refuseByQueue(visit: Visit, message: string, waitMs: number): void {
    this.counters.refusedByQueue++;
    this.refuse(visit, refusal(message, waitMs));
  }

  /** It is over without a word: refused, or left by its client. */
  forget(visit: Visit): void {
    this.#endWait(visit);
    visit.phase = 'over';
    this.#byId.delete(visit.id);
  }

  #endWait(visit: Visit): void {
    if (visit.cancelDeadline === undefined) return;
    visit.cancelDeadline();
    visit.cancelDeadline = undefined;
    this.counters.waiting--;
  }

  #release = (visit: Visit, usage?: LeaseUsage): void => {
    if (visit.phase !== 'running') return;
    this.forget(visit);
    this.counters.released(usage);
    visit.slot?.release();
    this.#options.onRelease(visit);
  };

  #newId(): string {
    this.#lastId++;
    return `${this.#options.process}.${this.#lastId.toString(36)}`;
  }
}
