/** Work in, its result out: so much of it at once, so much waiting its turn, and no more. */
import { fail } from './errors.ts';

export class Semaphore {
  readonly #maxWaiting: number;
  readonly #busy: string;
  readonly #waiting = new Set<() => void>();
  #free: number;

  /** `busy` is what one too many is told. */
  constructor(
    atOnce: number,
    maxWaiting: number,
    busy = 'The service is busy fetching other media; retry in a moment',
  ) {
    this.#free = atOnce;
    this.#maxWaiting = maxWaiting;
    this.#busy = busy;
  }

  async pass<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #enter(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#free > 0) {
        this.#free--;
        resolve();
        return;
      }
      if (this.#waiting.size >= this.#maxWaiting) {
        throw fail('unavailable', this.#busy);
      }
      const abort = () => {
        this.#waiting.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        this.#waiting.delete(enter);
        signal.removeEventListener('abort', abort);
        resolve();
      };
      this.#waiting.add(enter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** The place goes straight to the one who waited longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else next();
  }
}
