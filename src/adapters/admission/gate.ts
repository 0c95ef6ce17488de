/** The limits of one subscription and model: requests are started, queued or refused. */
import type { ApiError } from '../../errors.ts';
import { Pace } from '../../helpers/pace.ts';
import { Queue, type Queued } from '../../helpers/queue.ts';
import type { LeaseUsage, Limits, RateWindow } from '../../ports/admission.ts';
import type { AdmissionCounters } from './admission-counters.ts';
import { queueFull, Refusals, type Rules, rateReached, waitOver } from './rules.ts';
import { StartWindow } from './start-window.ts';

/** What the gates of one process share. */
export interface GateContext {
  readonly rules: Rules;
  readonly counters: AdmissionCounters;
  /** Milliseconds that only go forward. */
  now(): number;
}

/** Called once: admitted, or refused because the window was full when a slot became free. */
export interface Waiter extends Queued<Waiter> {
  admitted(): void;
  refused(error: ApiError): void;
}

export class Gate {
  readonly model: string;
  readonly #shared: GateContext;
  readonly #starts: StartWindow;
  #pace: Pace;
  #limits: Limits;
  /** The limits of the last start that was decided elsewhere. */
  adoptedBy: Limits | undefined;
  #running = 0;
  #queue: Queue<Waiter> | undefined;
  #serving = false;
  #refusals: Refusals | undefined;

  constructor(model: string, limits: Limits, shared: GateContext) {
    this.model = model;
    this.#limits = limits;
    this.#shared = shared;
    this.#starts = new StartWindow(shared.rules.windowMs);
    this.#pace = new Pace(shared.now());
  }

  /** Starts that count. */
  starts(now: number): number {
    return this.#starts.count(now);
  }

  /** As of the last decision. */
  get remaining(): number {
    return Math.max(0, this.limit - this.#starts.size);
  }

  get limit(): number {
    return this.#limits.requests_per_minute;
  }

  #window(remaining: number): RateWindow {
    const { size, emptyAt } = this.#starts;
    return { limit: this.limit, remaining, resetAt: size === 0 ? undefined : emptyAt };
  }

  get waiting(): number {
    return this.#queue?.size ?? 0;
  }

  /** Nothing runs, waits or counts in the window: a new gate would decide the same. */
  idleAt(now: number): boolean {
    return this.#running === 0 && this.waiting === 0 && this.#starts.count(now) === 0;
  }

  /** `started` holds a slot until `finish`; after `wait` the caller joins the queue. */
  enter(limits: Limits, now: number): 'started' | 'wait' | ApiError {
    this.#limits = limits;
    // What was measured before the gate was idle no longer applies; and an idle gate may have been dropped meanwhile.
    if (this.idleAt(now)) this.#pace = new Pace(now);
    // Raised limits make room, and waiters come first.
    if (this.waiting > 0) this.#serve();
    if (this.waiting === 0 && this.#running < limits.concurrency) return this.#start(now) ?? 'started';
    return this.#refuseWait() ?? 'wait';
  }

  /** A start that was decided elsewhere, by these limits, and counts here too. */
  adopt(limits: Limits, now: number): void {
    this.adoptedBy = limits;
    this.#running++;
    this.#starts.add(now);
  }

  join(waiter: Waiter): void {
    this.#queue ??= new Queue();
    this.#queue.add(waiter);
  }

  leave(waiter: Waiter): void {
    this.#queue?.delete(waiter);
  }

  finish(heldMs: number, now: number, usage: LeaseUsage | undefined): void {
    this.#running--;
    this.#shared.counters.released(usage);
    this.#pace.released(heldMs, now);
    if (this.waiting > 0) this.#serve();
  }

  tooBusy(): ApiError {
    this.#shared.counters.refusedByQueue++;
    return this.#refuse(queueFull(this.model), this.#estimate());
  }

  tooLate(): ApiError {
    this.#shared.counters.refusedByQueue++;
    return this.#refuse(waitOver(this.model), this.#estimate());
  }

  /** A free slot is not enough: the window decides, and when to retry. */
  #start(now: number): ApiError | undefined {
    const wait = this.#starts.waitFor(this.#limits.requests_per_minute, now);
    if (wait > 0) return this.#tooMany(wait);
    this.#starts.add(now);
    this.#pace.started(now);
    this.#running++;
    return undefined;
  }

  /** Refused when the queue is full, or the window has no room for this request and the waiters ahead in time. */
  #refuseWait(): ApiError | undefined {
    const perWindow = this.#limits.requests_per_minute;
    const ahead = this.waiting;
    if (ahead >= Math.min(this.#shared.rules.queueLength, perWindow)) return this.tooBusy();
    const wait = this.#starts.waitFor(perWindow - ahead, this.#shared.now());
    return wait > this.#shared.rules.queueMs ? this.#tooMany(wait) : undefined;
  }

  #tooMany(waitMs: number): ApiError {
    this.#shared.counters.refusedByRate++;
    // What the window has left goes to waiters.
    return this.#refuse(rateReached(this.model, this.#limits, 'requests_per_minute'), waitMs, 0);
  }

  #refuse(message: string, waitMs: number, remaining = this.remaining): ApiError {
    this.#refusals ??= new Refusals();
    return this.#refusals.of(message, waitMs, () => this.#window(remaining));
  }

  /**
   * Gives free slots to the queue. An admitted waiter may release its slot at once, within this loop: the loop sees it,
   * and a thousand of them do not make a thousand nested calls.
   */
  #serve(): void {
    if (this.#serving || this.#queue === undefined) return;
    this.#serving = true;
    try {
      for (let waiter = this.#queue.first; waiter !== undefined; waiter = this.#queue.first) {
        if (this.#running >= this.#limits.concurrency) return;
        this.#queue.delete(waiter);
        const refusal = this.#start(this.#shared.now());
        if (refusal === undefined) waiter.admitted();
        else waiter.refused(refusal);
      }
    } finally {
      this.#serving = false;
    }
  }

  /** When a new request may expect to start: behind the waiters, and not before the window has room. */
  #estimate(): number {
    const now = this.#shared.now();
    return Math.max(
      this.#pace.estimate(this.waiting + 1, this.#limits.concurrency, now),
      this.#starts.waitFor(this.#limits.requests_per_minute, now),
    );
  }
}
