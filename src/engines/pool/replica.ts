/** One replica: its load and its circuit breaker. */
import type { Fault } from '../engine-error.ts';
import type { Dispatch } from './dispatch.ts';
import { type BreakerRules, breakerRules } from './rules.ts';
import { Share } from './share.ts';

/** Open: no calls until the cooldown is over. Half-open: one trial call at a time. */
export type Circuit = 'closed' | 'open' | 'half-open';

interface ReplicaOptions {
  /** Shown to clients and in logs instead of its address. */
  readonly alias?: string;
  /** Different for two replicas at one address. */
  readonly seed?: string;
  readonly breaker?: BreakerRules;
}

export class Replica {
  readonly url: string;
  readonly dispatch: Dispatch;
  /** Shown to clients and in logs instead of its address. */
  readonly alias: string;
  readonly #rules: BreakerRules;
  readonly share: Share;
  /** Calls in flight. */
  busy = 0;
  /** Those whose response has begun. */
  answering = 0;
  /** An operator has taken it out: it finishes what it has, and gets no more calls. */
  drained = false;
  /** The last failure that counted for its circuit, in Unix milliseconds. */
  lastError: { readonly time: number; readonly message: string } | undefined;
  /** When its circuit opened; undefined while it is closed. */
  openedAt: number | undefined;
  #connectionFailures = 0;
  #serverFailures = 0;
  /** Failures since it was ejected, the first included. */
  #cooldowns = 0;
  /** When the cooldown ends; 0 while the circuit is closed. */
  #openUntil = 0;
  #jobs = 0;
  #whenJobless: (() => void) | undefined;

  constructor(url: string, dispatch: Dispatch, options: ReplicaOptions = {}) {
    const { alias = '', seed = url, breaker = breakerRules() } = options;
    this.url = url;
    this.dispatch = dispatch;
    this.alias = alias;
    this.#rules = breaker;
    this.share = new Share(seed);
  }

  /** A job begins that further requests to this replica will be about; call what it returns at its end. */
  beginJob(): () => void {
    this.#jobs++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      if (--this.#jobs === 0) this.#whenJobless?.();
    };
  }

  /** It has left the pool: calls and jobs on it run to their end. */
  async drain(): Promise<void> {
    if (this.#jobs > 0) await new Promise<void>((resolve) => (this.#whenJobless = resolve));
    await this.dispatch.close();
  }

  /** The circuit is open or half-open. */
  get ejected(): boolean {
    return this.#openUntil > 0;
  }

  /** It takes calls, now or when it has room. */
  get inService(): boolean {
    return !this.drained && this.#openUntil === 0;
  }

  get circuit(): Circuit {
    if (!this.ejected) return 'closed';
    return performance.now() < this.#openUntil ? 'open' : 'half-open';
  }

  get cooldownMs(): number {
    return this.#cooldowns === 0 ? 0 : this.#rules.cooldown(this.#cooldowns);
  }

  /** Milliseconds; 0 when a call may be tried. */
  cooldownLeft(now: number): number {
    return Math.max(0, this.#openUntil - now);
  }

  canTake(now: number, concurrency: number): boolean {
    if (this.drained) return false;
    if (this.#openUntil > 0) return now >= this.#openUntil && this.busy === 0;
    return this.busy < concurrency;
  }

  /** True when it was ejected. */
  succeeded(): boolean {
    const wasEjected = this.ejected;
    this.#connectionFailures = 0;
    this.#serverFailures = 0;
    this.#cooldowns = 0;
    this.#openUntil = 0;
    this.openedAt = undefined;
    return wasEjected;
  }

  /** True when this failure ejects it. While it is ejected, every failure doubles the cooldown. */
  failed(fault: Fault, now: number): boolean {
    if (fault === 'connection') this.#connectionFailures++;
    if (fault === 'server') this.#serverFailures++;
    const wasEjected = this.ejected;
    const { connectionFailures, serverFailures, cooldown } = this.#rules;
    const tooMany = this.#connectionFailures >= connectionFailures || this.#serverFailures >= serverFailures;
    if (fault === 'none' || !(wasEjected || tooMany)) return false;
    this.#openUntil = now + cooldown(++this.#cooldowns);
    this.openedAt ??= now;
    return !wasEjected;
  }
}
