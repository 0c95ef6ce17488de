/** Decides when a request may start: rate and concurrency limits with a fair queue before them. */
import type { Observable } from 'rxjs';
import type { RateLimits } from '../../schemas/limits.ts';
import type { LimitWindow } from '../errors.ts';
import type { TokenUsage } from './engines/chat.ts';

export type Limits = Readonly<RateLimits>;

export interface AdmissionRequest {
  readonly subscription: string;
  readonly model: string;
  /** The numbers travel with each request; where requests disagree, those of the latest hold for all. */
  readonly limits: Limits;
  /** `model` stands for any of these, and `limits` are theirs together. */
  readonly anyOf?: readonly { readonly id: string; readonly limits: Limits }[];
}

/** The requests of a subscription to a model within a minute. */
export type RateWindow = LimitWindow;

/** What all of them allow together. */
export const sumOfLimits = (all: readonly Limits[]): Limits => ({
  concurrency: all.reduce((sum, { concurrency }) => sum + concurrency, 0),
  requests_per_minute: all.reduce((sum, limits) => sum + limits.requests_per_minute, 0),
});

export interface Lease {
  /** Milliseconds spent in the queue. */
  readonly waited: number;
  /** Its position in the queue on arrival, from 1; absent when there was room at once. */
  readonly position?: number;
  /** The window of requests as it was when this one started; undefined where that is not known. */
  readonly window?: RateWindow | undefined;
  /** Returns the slot, with the tokens that were used; only the first call counts. */
  release(usage?: LeaseUsage): void;
}

/** A lease that was given before the request was read, by what its first bytes said. */
export interface EarlyLease {
  /** Undefined where it is for another model: this one has to be admitted itself. The lease is released in that case. */
  claim(model: string): Lease | undefined;
}

export type LeaseUsage = Pick<TokenUsage, 'prompt' | 'completion'>;

/** What admission has done since it was opened, and what it holds now; of this process alone. */
export interface AdmissionStats {
  readonly running: number;
  readonly waiting: number;
  readonly admitted: number;
  /** Admitted after waiting, and how long all of them together waited. */
  readonly waited: number;
  readonly waitedMs: number;
  /** Refused because the window was full. */
  readonly refusedByRate: number;
  /** Refused because the queue was full, or the wait too long. */
  readonly refusedByQueue: number;
  /** Tokens that leases were released with. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Whether all replicas are counted together, as they should be when they share a service. */
  readonly shared: boolean;
  /** How many processes share the limits, as far as is known. */
  readonly replicas: number;
  /** Whether this process has a portion of the limits while they cannot be shared: all others know of it. */
  readonly established: boolean;
}

export interface Admission {
  /**
   * A lease where there is room at once. Otherwise an observable that emits one and completes: the request is queued on
   * subscription, and unsubscribing leaves the queue. Errors with `rate_limited` (429 with `retry-after`) or `unavailable`.
   */
  admit(request: AdmissionRequest): Lease | Observable<Lease>;
  stats(): AdmissionStats;
  /** Resolves when the service behind it responds; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}
