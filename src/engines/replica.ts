/** One replica's standing, learnt from how its calls and probes end: how busy it is, and whether calls should go there. */
import { exponentialBackoff } from '../backoff.ts';
import type { Dispatch } from './dispatch.ts';
import type { Fault } from './engine-error.ts';

/** Failures in a row after which a replica is left alone; one broken connection may be chance. */
const CONNECTION_FAILURES = 2;
const SERVER_FAILURES = 5;
const backoff = exponentialBackoff({ first: 500, most: 30_000 });

export class Replica {
  readonly url: string;
  readonly dispatch: Dispatch;
  /** Calls running now. */
  busy = 0;
  /** Those of them whose answer has begun. */
  answering = 0;
  #connectionFailures = 0;
  #serverFailures = 0;
  /** Failures since it went out, the first included. */
  #pauses = 0;
  /** When it may be tried again; 0 while it is well. */
  #outUntil = 0;

  constructor(url: string, dispatch: Dispatch) {
    this.url = url;
    this.dispatch = dispatch;
  }

  get out(): boolean {
    return this.#outUntil > 0;
  }

  /** Out, and not to be tried yet. */
  get resting(): boolean {
    return this.out && performance.now() < this.#outUntil;
  }

  /** A replica that is out gets one call at a time once its pause is over. */
  canTake(now: number, concurrency: number): boolean {
    if (this.#outUntil > 0) return now >= this.#outUntil && this.busy === 0;
    return this.busy < concurrency;
  }

  /** True when it was out. */
  succeeded(): boolean {
    const wasOut = this.out;
    this.#connectionFailures = 0;
    this.#serverFailures = 0;
    this.#pauses = 0;
    this.#outUntil = 0;
    return wasOut;
  }

  /** True when it goes out by this failure. While it is out every failure doubles the pause. */
  failed(fault: Fault, now: number): boolean {
    if (fault === 'connection') this.#connectionFailures++;
    if (fault === 'server') this.#serverFailures++;
    const wasOut = this.out;
    const tooMany =
      this.#connectionFailures >= CONNECTION_FAILURES || this.#serverFailures >= SERVER_FAILURES;
    if (fault === 'none' || !(wasOut || tooMany)) return false;
    this.#outUntil = now + backoff(++this.#pauses);
    return !wasOut;
  }
}
