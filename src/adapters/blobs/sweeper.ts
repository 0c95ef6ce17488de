/** Runs a sweep every minute, one at a time, until closed. */
import type { Logger } from 'pino';

const interval = 60_000;

export class Sweeper {
  readonly #sweep: (now: number) => Promise<number>;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  /** `sweep` resolves to the number of blobs it removed. */
  constructor(sweep: (now: number) => Promise<number>, log: Logger) {
    this.#sweep = sweep;
    this.#log = log;
    this.#timer = setInterval(() => void this.run(), interval).unref();
  }

  run(now = Date.now()): Promise<void> {
    this.#running ??= this.#once(now).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #once(now: number): Promise<void> {
    try {
      const removed = await this.#sweep(now);
      if (removed > 0) this.#log.info({ removed }, 'expired blobs removed');
    } catch (error) {
      this.#log.warn({ err: error }, 'blob sweep failed');
    }
  }
}
