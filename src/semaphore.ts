/** Limits how much asynchronous work runs at once and how much may wait for it. */
import { fail } from './errors.ts';

export class Semaphore {
  readonly #maxWaiters: number;
  readonly #busy: string;
  readonly #waiters = new Set<() => void>();
  #permits: number;

  /** `busy` is the message of the error when there are too many waiters. */
  constructor(
    permits: number,
    maxWaiters: number,
    busy = 'The service is busy fetching other media; retry in a moment',
  ) {
    this.#permits = permits;
    this.#maxWaiters = maxWaiters;
    this.#busy = busy;
  }

  /** The signal ends the wait for a permit; work that runs already has to listen to it by itself. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #acquire(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#permits > 0) {
        this.#permits--;
        resolve();
        return;
      }
      if (this.#waiters.size >= this.#maxWaiters) throw fail('unavailable', this.#busy);
      const abort = () => {
        this.#waiters.delete(acquired);
        reject(signal.reason);
      };
      const acquired = () => {
        this.#waiters.delete(acquired);
        signal.removeEventListener('abort', abort);
        resolve();
      };
      this.#waiters.add(acquired);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** The permit goes straight to the first waiter. */
  #release(): void {
    const [next] = this.#waiters;
    if (next === undefined) this.#permits++;
    else next();
  }
}
