/** A pool of workers, started on demand and ended when idle; subscriptions that wait for one take turns. */
import { fail } from '../errors.ts';
import { FairQueue, type Waiter } from '../helpers/fair-queue.ts';
import { Shares } from '../helpers/shares.ts';
import type { ResourceStats } from '../ports/shared.ts';
import type { Job, Worker, WorkerOptions } from './pool-worker.ts';
import { Thread } from './thread.ts';

export interface PoolOptions extends Pick<WorkerOptions, 'entry' | 'heapMegabytes'> {
  readonly workers: number;
  /** Threads of this process unless it says otherwise. */
  readonly start?: (options: WorkerOptions) => Worker;
  /** Tasks that may wait, … */
  readonly maxQueued: number;
  /** … the bytes they may hold together, … */
  readonly maxQueuedBytes: number;
  /** … and the milliseconds each of them waits at most. */
  readonly maxWait: number;
  /** Milliseconds without work after which a worker ends. */
  readonly idle: number;
}

export interface PoolJob extends Job {
  /** Whose task it is. */
  readonly subscription: string;
  readonly bytes: number;
}

interface Waiting extends Waiter<Waiting> {
  readonly job: PoolJob;
  isQueued: boolean;
  start(worker: Worker): void;
  refuse(reason: unknown): void;
}

export class Pool {
  readonly #options: PoolOptions;
  readonly #workers = new Set<Worker>();
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #queue: FairQueue<Waiting>;
  readonly #queuedBytes: Shares;
  readonly #shares: Shares;
  #refused = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#queue = new FairQueue(options.maxQueued);
    this.#queuedBytes = new Shares(options.maxQueuedBytes);
    this.#shares = new Shares(options.workers);
  }

  /** Aborting takes a waiting task out of the queue; a running one goes on, unheard. */
  run(job: PoolJob, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed) throw closing();
      const abort = () => waiting.refuse(signal?.reason);
      const waiting: Waiting = {
        job,
        isQueued: false,
        subscription: job.subscription,
        start: (worker) => {
          clearTimeout(clock);
          this.#work(worker, job)
            .then(resolve, reject)
            .finally(() => signal?.removeEventListener('abort', abort));
        },
        refuse: (reason) => {
          clearTimeout(clock);
          signal?.removeEventListener('abort', abort);
          this.#leave(waiting);
          reject(reason);
        },
        rejected: () => {
          this.#refused++;
          waiting.refuse(busy());
        },
      };
      const clock = setTimeout(() => waiting.rejected(), this.#options.maxWait);
      signal?.addEventListener('abort', abort, { once: true });
      if (this.#hasRoom(job)) waiting.start(this.#take(job));
      else if (!this.#enqueue(waiting)) waiting.rejected();
    });
  }

  stats(): ResourceStats {
    return { running: this.#shares.total, waiting: this.#queue.size, refused: this.#refused };
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (let waiting = this.#queue.first(); waiting !== undefined; waiting = this.#queue.first())
      waiting.refuse(closing());
    for (const clock of this.#idle.values()) clearTimeout(clock);
    await Promise.all([...this.#workers].map((worker) => worker.end('closed')));
  }

  #enqueue(waiting: Waiting): boolean {
    const { subscription, bytes } = waiting.job;
    if (!this.#queuedBytes.hasRoom(subscription, bytes) || !this.#queue.enqueue(waiting)) return false;
    this.#queuedBytes.take(subscription, bytes);
    waiting.isQueued = true;
    return true;
  }

  #leave(waiting: Waiting): void {
    if (!waiting.isQueued) return;
    waiting.isQueued = false;
    this.#queue.remove(waiting);
    this.#queuedBytes.give(waiting.job.subscription, waiting.job.bytes);
  }

  #startNext(): void {
    const next = this.#queue.find(({ job }) => this.#hasRoom(job));
    if (next === undefined) return;
    this.#queue.dequeue(next);
    this.#leave(next);
    next.start(this.#take(next.job));
    this.#startNext();
  }

  #hasRoom({ subscription }: PoolJob): boolean {
    if (this.#closed || !this.#shares.hasRoom(subscription)) return false;
    return this.#idle.size > 0 || this.#workers.size < this.#options.workers;
  }

  #take({ subscription }: PoolJob): Worker {
    this.#shares.take(subscription);
    for (const [worker, clock] of this.#idle) {
      clearTimeout(clock);
      this.#idle.delete(worker);
      return worker;
    }
    const { entry, heapMegabytes, start = startThread } = this.#options;
    const worker = start({
      entry,
      heapMegabytes,
      onEnd: () => {
        clearTimeout(this.#idle.get(worker));
        this.#idle.delete(worker);
        this.#workers.delete(worker);
        this.#startNext();
      },
    });
    this.#workers.add(worker);
    return worker;
  }

  async #work(worker: Worker, job: PoolJob): Promise<unknown> {
    try {
      return await worker.run(job);
    } finally {
      this.#shares.give(job.subscription);
      if (!worker.ended)
        this.#idle.set(worker, setTimeout(() => this.#retire(worker), this.#options.idle).unref());
      this.#startNext();
    }
  }

  #retire(worker: Worker): void {
    this.#idle.delete(worker);
    void worker.end('closed');
  }
}

const startThread = (options: WorkerOptions): Worker => new Thread(options);

const busy = () => fail('unavailable', 'The service is busy reading other large requests; retry in a moment');
const closing = () => fail('unavailable', 'The service is shutting down');
