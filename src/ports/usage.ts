/** Records usage events; one is durable once `record` has emitted. */
import type { Observable } from 'rxjs';
import type { UsageEvent } from '../../schemas/usage-event.ts';

export interface UsageLog {
  /**
   * Emits once the event is durable, synchronously where possible, then completes; errors with `unavailable` when it
   * cannot be kept. An event that costs nothing may be left out when room is short: then it completes only.
   */
  record(event: UsageEvent): Observable<void>;
  /** Throws `unavailable` when a billable request must not start because its usage could not be kept. */
  ensureOpen(): void;
  close(): Promise<void>;
}
