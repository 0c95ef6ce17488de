/** Limits how much asynchronous work runs at once; subscriptions that wait for it take turns. */
import { fail } from '../errors.ts';
import type { ResourceStats, Turn } from '../ports/shared.ts';
import { FairQueue, type Waiter } from './fair-queue.ts';
import { Shares } from './shares.ts';

interface SemaphoreOptions {
  readonly permits: number;
  readonly maxWaiters: number;
  /** The message when there are too many waiters. */
  readonly busy: string;
}

interface PermitWaiter extends Waiter<PermitWaiter> {
  readonly permits: number;
  acquired(): void;
}

export class Semaphore {
  readonly #busy: string;
  readonly #shares: Shares;
  readonly #waiters: FairQueue<PermitWaiter>;
  #refused = 0;

  constructor({ permits, maxWaiters, busy }: SemaphoreOptions) {
    this.#busy = busy;
    this.#shares = new Shares(permits);
    this.#waiters = new FairQueue(maxWaiters);
  }

  /**
   * The signal ends the wait for a permit; work that runs already has to listen to it by itself. Large work may take
   * several permits, up to all that one subscription may have.
   */
  async run<T>(turn: Turn, work: () => Promise<T>, wanted = 1): Promise<T> {
    const permits = Math.min(wanted, this.#shares.largest);
    await this.#acquire(turn, permits);
    try {
      return await work();
    } finally {
      this.#shares.give(turn.subscription, permits);
      this.#startNext();
    }
  }

  stats(): ResourceStats {
    return { running: this.#shares.total, waiting: this.#waiters.size, refused: this.#refused };
  }

  #acquire({ subscription, signal }: Turn, permits: number): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#shares.hasRoom(subscription, permits)) {
        this.#shares.take(subscription, permits);
        resolve();
        return;
      }
      const abort = () => {
        this.#waiters.remove(waiter);
        reject(signal.reason);
      };
      const waiter: PermitWaiter = {
        subscription,
        permits,
        acquired: () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
        rejected: () => {
          this.#refused++;
          signal.removeEventListener('abort', abort);
          reject(fail('unavailable', this.#busy));
        },
      };
      if (!this.#waiters.enqueue(waiter)) return waiter.rejected();
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #startNext(): void {
    const next = this.#waiters.find(({ subscription, permits }) =>
      this.#shares.hasRoom(subscription, permits),
    );
    if (next === undefined) return;
    this.#waiters.dequeue(next);
    this.#shares.take(next.subscription, next.permits);
    next.acquired();
    this.#startNext();
  }
}
