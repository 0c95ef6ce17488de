/** One subscription at one model: requests that want to start in; started, sent to the line, or refused out. */
import type { ApiError } from '../../errors.ts';
import { Pace } from '../../limits/pace.ts';
import type { Limits } from '../../ports/admission.ts';
import type { AdmissionCounters } from './admission-counters.ts';
import { queueFull, Refusals, type Rules, rateReached, waitOver } from './rules.ts';
import { StartWindow } from './start-window.ts';

/** What the gates of one process share. */
export interface Surroundings {
  readonly rules: Rules;
  readonly counters: AdmissionCounters;
  /** Milliseconds that only go forward. */
  now(): number;
}

/** Told once: its turn has come, or the window was full when it came. */
export interface Waiter {
  admitted(): void;
  refused(error: ApiError): void;
}

export class Gate {
  readonly model: string;
  readonly #shared: Surroundings;
  readonly #starts: StartWindow;
  #pace: Pace;
  #limits: Limits;
  #running = 0;
  /** First in, first out; a Set keeps the order and lets a waiter leave from the middle in O(1). */
  #line: Set<Waiter> | undefined;
  #serving = false;
  #refusals: Refusals | undefined;

  constructor(model: string, limits: Limits, shared: Surroundings) {
    this.model = model;
    this.#limits = limits;
    this.#shared = shared;
    this.#starts = new StartWindow(shared.rules.windowMs);
    this.#pace = new Pace(shared.now());
  }

  get waiting(): number {
    return this.#line?.size ?? 0;
  }

  /** Nobody runs, nobody waits, no start counts: a new gate would decide the same. */
  idleAt(now: number): boolean {
    return this.#running === 0 && this.waiting === 0 && this.#starts.count(now) === 0;
  }

  /** `started` holds a slot until `finish`; after `wait` the caller joins the line. */
  enter(limits: Limits, now: number): 'started' | 'wait' | ApiError {
    this.#limits = limits;
    // What was seen before everybody had gone says nothing of today; and such a gate may have been dropped meanwhile.
    if (this.idleAt(now)) this.#pace = new Pace(now);
    // Numbers that grew make room, and those who wait come first.
    if (this.waiting > 0) this.#serve();
    if (this.waiting === 0 && this.#running < limits.concurrency) return this.#start(now) ?? 'started';
    return this.#hopeless() ?? 'wait';
  }

  /** A start that was decided elsewhere and counts here too. */
  adopt(now: number): void {
    this.#running++;
    this.#starts.add(now);
  }

  join(waiter: Waiter): void {
    this.#line ??= new Set();
    this.#line.add(waiter);
  }

  leave(waiter: Waiter): void {
    this.#line?.delete(waiter);
  }

  finish(heldMs: number, now: number): void {
    this.#running--;
    this.#pace.released(heldMs, now);
    if (this.waiting > 0) this.#serve();
  }

  tooBusy(): ApiError {
    this.#shared.counters.refusedByQueue++;
    return this.#refuse(queueFull(this.model), this.#turn());
  }

  tooLate(): ApiError {
    this.#shared.counters.refusedByQueue++;
    return this.#refuse(waitOver(this.model), this.#turn());
  }

  /** A free slot is not enough: the window decides, and says when to come back. */
  #start(now: number): ApiError | undefined {
    const wait = this.#starts.waitFor(this.#limits.requestsPerMinute, now);
    if (wait > 0) return this.#tooMany(wait);
    this.#starts.add(now);
    this.#pace.started(now);
    this.#running++;
    return undefined;
  }

  /** Waiting makes no sense where the window has no room for those ahead and this one within the time it may wait. */
  #hopeless(): ApiError | undefined {
    const perWindow = this.#limits.requestsPerMinute;
    const ahead = this.waiting;
    if (ahead >= Math.min(this.#shared.rules.queueLength, perWindow)) return this.tooBusy();
    const wait = this.#starts.waitFor(perWindow - ahead, this.#shared.now());
    return wait > this.#shared.rules.queueMs ? this.#tooMany(wait) : undefined;
  }

  #tooMany(waitMs: number): ApiError {
    this.#shared.counters.refusedByRate++;
    return this.#refuse(rateReached(this.model, this.#limits.requestsPerMinute), waitMs);
  }

  #refuse(message: string, waitMs: number): ApiError {
    this.#refusals ??= new Refusals();
    return this.#refusals.of(message, waitMs);
  }

  /**
   * Gives free slots to the line. One who is admitted may be done at once and so free a slot within this loop: the
   * loop sees it, and a thousand of them do not make a thousand nested calls.
   */
  #serve(): void {
    if (this.#serving || this.#line === undefined) return;
    this.#serving = true;
    try {
      for (const waiter of this.#line) {
        if (this.#running >= this.#limits.concurrency) return;
        this.#line.delete(waiter);
        const refusal = this.#start(this.#shared.now());
        if (refusal === undefined) waiter.admitted();
        else waiter.refused(refusal);
      }
    } finally {
      this.#serving = false;
    }
  }

  /** When one who comes again may expect to start: behind those who wait, and not before the window has room. */
  #turn(): number {
    const now = this.#shared.now();
    return Math.max(
      this.#pace.turn(this.waiting + 1, this.#limits.concurrency, now),
      this.#starts.waitFor(this.#limits.requestsPerMinute, now),
    );
  }
}
