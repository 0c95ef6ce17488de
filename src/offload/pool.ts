/** A pool of worker threads, started on demand and ended when idle, with a bounded queue. */
import { fail } from '../errors.ts';
import { type Job, Thread } from './thread.ts';

export interface PoolOptions {
  /** The script a thread runs. */
  readonly entry: URL;
  readonly threads: number;
  /** Tasks that may wait, … */
  readonly maxQueued: number;
  /** … the bytes they may hold together, … */
  readonly maxQueuedBytes: number;
  /** … and the milliseconds each of them waits at most. */
  readonly maxWait: number;
  /** Milliseconds without work after which a thread ends. */
  readonly idle: number;
  /** JavaScript heap of a thread. */
  readonly heapMegabytes: number;
}

export interface PoolJob extends Job {
  readonly bytes: number;
  /** May take seconds: such tasks never hold all threads, where there is more than one. */
  readonly slow: boolean;
}

interface Waiting {
  readonly job: PoolJob;
  start(thread: Thread): void;
  refuse(reason: unknown): void;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #threads = new Set<Thread>();
  readonly #idle = new Map<Thread, NodeJS.Timeout>();
  #queue: Waiting[] = [];
  #queuedBytes = 0;
  #slowRunning = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Aborting takes a waiting task out of the queue; a running one goes on, unheard. */
  run(job: PoolJob, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed) throw fail('unavailable', 'The service is shutting down');
      const isFull =
        this.#queue.length >= this.#options.maxQueued ||
        this.#queuedBytes + job.bytes > this.#options.maxQueuedBytes;
      if (isFull && !this.#hasRoom(job)) throw busy();
      const abort = () => waiting.refuse(signal?.reason);
      const clock = setTimeout(() => waiting.refuse(busy()), this.#options.maxWait);
      const waiting: Waiting = {
        job,
        start: (thread) => {
          clearTimeout(clock);
          this.#work(thread, job)
            .then(resolve, reject)
            .finally(() => signal?.removeEventListener('abort', abort));
        },
        refuse: (reason) => {
          clearTimeout(clock);
          signal?.removeEventListener('abort', abort);
          this.#leave(waiting);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.push(waiting);
      this.#queuedBytes += job.bytes;
      this.#startNext();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const waiting of [...this.#queue])
      waiting.refuse(fail('unavailable', 'The service is shutting down'));
    for (const clock of this.#idle.values()) clearTimeout(clock);
    await Promise.all([...this.#threads].map((thread) => thread.end('closed')));
  }

  #startNext(): void {
    for (const waiting of this.#queue) {
      if (!this.#hasRoom(waiting.job)) continue;
      this.#leave(waiting);
      waiting.start(this.#take());
      this.#startNext();
      return;
    }
  }

  #leave(waiting: Waiting): void {
    const left = this.#queue.filter((other) => other !== waiting);
    if (left.length < this.#queue.length) this.#queuedBytes -= waiting.job.bytes;
    this.#queue = left;
  }

  #hasRoom({ slow }: PoolJob): boolean {
    if (this.#closed || (slow && this.#slowRunning >= Math.max(1, this.#options.threads - 1))) return false;
    return this.#idle.size > 0 || this.#threads.size < this.#options.threads;
  }

  #take(): Thread {
    for (const [thread, clock] of this.#idle) {
      clearTimeout(clock);
      this.#idle.delete(thread);
      return thread;
    }
    const thread = new Thread(this.#options.entry, this.#options.heapMegabytes, () => {
      clearTimeout(this.#idle.get(thread));
      this.#idle.delete(thread);
      this.#threads.delete(thread);
      this.#startNext();
    });
    this.#threads.add(thread);
    return thread;
  }

  async #work(thread: Thread, job: PoolJob): Promise<unknown> {
    if (job.slow) this.#slowRunning++;
    try {
      return await thread.run(job);
    } finally {
      if (job.slow) this.#slowRunning--;
      if (!thread.ended) {
        this.#idle.set(thread, setTimeout(() => this.#retire(thread), this.#options.idle).unref());
        this.#startNext();
      }
    }
  }

  #retire(thread: Thread): void {
    this.#idle.delete(thread);
    void thread.end('closed');
  }
}

const busy = () => fail('unavailable', 'The service is busy reading other large requests; retry in a moment');
