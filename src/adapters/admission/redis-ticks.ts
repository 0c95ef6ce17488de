/** Calls a function at the pace of a session with Redis: a few times per time to live, more often in an outage. */
import type { Clock } from './clock.ts';
import type { Outage } from './redis-outage.ts';

interface TickOptions {
  readonly clock: Clock;
  readonly ttlMs: number;
  readonly outage: Outage;
  tick(): Promise<void>;
}

/** Pauses have jitter: after an outage processes do not all reconnect at the same moment. */
export class RedisTicks {
  readonly #options: TickOptions;
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(options: TickOptions) {
    this.#options = options;
    this.in(0);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Instead of the one that is due. */
  in(milliseconds: number): void {
    if (this.#closed) return;
    this.#cancel?.();
    this.#cancel = this.#options.clock.after(milliseconds, () => void this.#tick());
  }

  /** A call has failed. */
  soon(): void {
    this.in(Math.random() * Math.min(this.#options.ttlMs / 4, 500));
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async #tick(): Promise<void> {
    await this.#options.tick();
    const quarter = this.#options.ttlMs / 4;
    // Requests wait while processes settle.
    const longest = { shared: quarter, local: 500, settling: 50 }[this.#options.outage.phase];
    this.in(Math.min(quarter, longest) * (0.75 + Math.random() / 4));
  }
}
