/** Who may start now: a rate window and a concurrency cap per subscription and model, and a fair queue in front of them. */
import type { Observable } from 'rxjs';

export interface Limits {
  /** Requests running at once. */
  readonly concurrency: number;
  /** Requests started in any 60 seconds. */
  readonly requestsPerMinute: number;
}

export interface AdmissionRequest {
  readonly subscription: string;
  readonly model: string;
  readonly limits: Limits;
}

export interface Lease {
  /** Milliseconds spent in the queue. */
  readonly waited: number;
  /** Gives the slot back; safe to call more than once. */
  release(): void;
}

export interface Admission {
  /**
   * Emits one lease and completes; synchronously when there is room.
   * Errors with `rate_limited` (429 with `retry-after`) or `unavailable`. Unsubscribing while waiting leaves the queue.
   */
  admit(request: AdmissionRequest): Observable<Lease>;
  check(): Promise<void>;
  close(): Promise<void>;
}
