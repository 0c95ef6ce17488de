/** Usage events kept in this process only: the newest ones in a ring, for tests and for running without a journal. */
import { defer, type Observable, of } from 'rxjs';
import type { UsageEvent } from '../../../schemas/usage-event.ts';
import type { UsageLog } from '../../ports/usage.ts';

export class MemoryUsage implements UsageLog {
  readonly #ring: UsageEvent[] = [];
  readonly #size: number;
  #next = 0;

  constructor(size = 10_000) {
    this.#size = size;
  }

  record(event: UsageEvent): Observable<void> {
    return defer(() => {
      this.#ring[this.#next] = event;
      this.#next = (this.#next + 1) % this.#size;
      return of(undefined);
    });
  }

  ensureOpen(): void {}

  /** Oldest first. */
  events(): readonly UsageEvent[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
