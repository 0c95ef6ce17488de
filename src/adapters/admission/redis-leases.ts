/** The requests of this process that ask, wait or run under Redis: their outcomes, deadlines and counts. */
import type { Subscriber, Subscription } from 'rxjs';
import type { LimitKind } from '../../../schemas/limits.ts';
import type { ApiError } from '../../errors.ts';
import type { AdmissionRequest, Lease, LeaseUsage, RateWindow } from '../../ports/admission.ts';
import { AdmissionCounters } from './admission-counters.ts';
import type { Clock } from './clock.ts';
import { type Rules, rateReached, refusal } from './rules.ts';

/**
 * asking: a decision is on its way; queued: in the shared queue; local: in the queue of this process; running: holds a
 * slot; over: refused, cancelled or released.
 */
export type Phase = 'asking' | 'queued' | 'local' | 'running' | 'over';

/** A request, and its lease once it runs. */
export class RedisLease implements Lease {
  /** Changes whenever it moves between the shared queue and that of this process. */
  id = '';
  /** Of its id: higher than that of each lease that has its id for longer. */
  serial = 0;
  /** In the list of those of this process. */
  readonly index: number;
  phase: Phase = 'asking';
  waited = 0;
  declare position?: number;
  readonly request: AdmissionRequest;
  readonly arrived: number;
  startedAt = 0;
  /** Where Redis has reported how full the window is. */
  declare window?: RateWindow;
  /** Set while it waits, in either queue. */
  cancelDeadline: (() => void) | undefined;
  expired = false;
  /** Its wait in the queue of this process. */
  localWait: Subscription | undefined;
  /** Its slot in this process, counted beside the shared one. */
  localSlot: Lease | undefined;
  /** Until it has its outcome. */
  #subscriber: Subscriber<Lease> | undefined;
  readonly #onRelease: (lease: RedisLease, usage?: LeaseUsage) => void;

  constructor(
    index: number,
    request: AdmissionRequest,
    subscriber: Subscriber<Lease>,
    arrived: number,
    onRelease: (lease: RedisLease, usage?: LeaseUsage) => void,
  ) {
    this.index = index;
    this.request = request;
    this.arrived = arrived;
    this.#subscriber = subscriber;
    this.#onRelease = onRelease;
  }

  get gate(): string {
    return gateOf(this.request);
  }

  granted(): void {
    const subscriber = this.#subscriber;
    this.#subscriber = undefined;
    subscriber?.next(this);
    subscriber?.complete();
  }

  refused(error: ApiError): void {
    const subscriber = this.#subscriber;
    this.#subscriber = undefined;
    subscriber?.error(error);
  }

  release(usage?: LeaseUsage): void {
    this.#onRelease(this, usage);
  }
}

/** Of the numbers in an id, `<process>.<serial>.<index>`. */
const radix = 36;

interface RedisLeasesOptions {
  /** First part of every id. */
  readonly process: string;
  readonly rules: Rules;
  readonly clock: Clock;
  onRelease(lease: RedisLease, usage: LeaseUsage | undefined): void;
  /** A request has waited as long as it may. */
  onDeadline(lease: RedisLease): void;
}

export class RedisLeases {
  readonly counters = new AdmissionCounters();
  readonly #options: RedisLeasesOptions;
  /**
   * By index, which is part of the id. In a Map by id they would survive until the next full garbage collection: one
   * that has grown keeps its former table, and whatever was in it.
   */
  readonly #list: (RedisLease | undefined)[] = [];
  readonly #freeIndexes: number[] = [];
  #lastSerial = 0;

  constructor(options: RedisLeasesOptions) {
    this.#options = options;
  }

  open(request: AdmissionRequest, subscriber: Subscriber<Lease>): RedisLease {
    const index = this.#freeIndexes.pop() ?? this.#list.length;
    const lease = new RedisLease(index, request, subscriber, this.#options.clock.now(), this.#release);
    this.#list[index] = lease;
    this.rename(lease);
    return lease;
  }

  get(id: string): RedisLease | undefined {
    const index = Number.parseInt(id.slice(id.lastIndexOf('.') + 1), radix);
    const lease = this.#list[index];
    return lease?.id === id ? lease : undefined;
  }

  /** In the order of their ids. A copy: leases may be added and removed while it is iterated. */
  all(): RedisLease[] {
    const all = this.#list.filter((lease) => lease !== undefined);
    return all.sort((one, other) => one.serial - other.serial);
  }

  rename(lease: RedisLease): void {
    lease.serial = ++this.#lastSerial;
    lease.id = [this.#options.process, lease.serial.toString(radix), lease.index.toString(radix)].join('.');
  }

  /** False when too many wait in this process. One that has moved keeps its deadline. */
  beginWait(lease: RedisLease, position: number | undefined): boolean {
    const { rules, clock, onDeadline } = this.#options;
    if (lease.expired) onDeadline(lease);
    if (lease.expired || lease.cancelDeadline !== undefined) return true;
    if (this.counters.waiting >= rules.waiting) return false;
    if (position !== undefined) lease.position ??= position;
    this.counters.waiting++;
    const left = lease.arrived + rules.queueMs - clock.now();
    lease.cancelDeadline = clock.after(Math.max(0, left), () => {
      lease.expired = true;
      onDeadline(lease);
    });
    return true;
  }

  grant(lease: RedisLease): void {
    this.#endWait(lease);
    lease.phase = 'running';
    lease.startedAt = this.#options.clock.now();
    this.counters.running++;
    this.counters.admitted++;
    if (lease.position !== undefined) {
      lease.waited = lease.startedAt - lease.arrived;
      this.counters.waited++;
      this.counters.waitedMs += lease.waited;
    }
    lease.granted();
  }

  refuse(lease: RedisLease, error: ApiError): void {
    this.remove(lease);
    lease.refused(error);
  }

  refuseByRate(lease: RedisLease, waitMs: number, limit: LimitKind): void {
    this.counters.refusedByRate++;
    const { model, limits } = lease.request;
    const window = { limit: limits.requests_per_minute, remaining: 0, resetAt: undefined };
    this.refuse(lease, refusal(rateReached(model, limits, limit), waitMs, window));
  }

  refuseByQueue(lease: RedisLease, message: string, waitMs: number): void {
    this.counters.refusedByQueue++;
    this.refuse(lease, refusal(message, waitMs));
  }

  remove(lease: RedisLease): void {
    this.#endWait(lease);
    lease.phase = 'over';
    if (this.#list[lease.index] !== lease) return;
    this.#list[lease.index] = undefined;
    this.#freeIndexes.push(lease.index);
  }

  #endWait(lease: RedisLease): void {
    if (lease.cancelDeadline === undefined) return;
    lease.cancelDeadline();
    lease.cancelDeadline = undefined;
    this.counters.waiting--;
  }

  #release = (lease: RedisLease, usage?: LeaseUsage): void => {
    if (lease.phase !== 'running') return;
    this.remove(lease);
    this.counters.released(usage);
    lease.localSlot?.release();
    this.#options.onRelease(lease, usage);
  };
}

/** The same for all requests at one gate. */
export const gateOf = ({ subscription, model }: AdmissionRequest): string => `${subscription}\n${model}`;
