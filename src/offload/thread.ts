/** Runs one task at a time on a worker thread, and reports why the thread ended. */
import { Worker } from 'node:worker_threads';

export interface Job {
  readonly task: unknown;
  /** Buffers of the task that move to the thread. */
  readonly transfer: readonly ArrayBuffer[];
  /** Milliseconds it may run. */
  readonly timeout: number;
  /** Bytes by which the process may grow meanwhile: buffers are not under the thread's own memory limit. */
  readonly maxGrowth: number;
}

export type EndReason = 'timeout' | 'memory' | 'crash' | 'closed';

export class ThreadFailure extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason, cause?: unknown) {
    super(`The thread ended: ${reason}`, { cause });
    this.name = 'ThreadFailure';
    this.reason = reason;
  }
}

interface Running {
  settle(outcome: unknown): void;
  fail(failure: ThreadFailure): void;
}

const memoryCheckMs = 100;

export class Thread {
  readonly #worker: Worker;
  #running: Running | undefined;
  #ended = false;

  /** Holds the process alive only while it works. */
  constructor(entry: URL, heapMegabytes: number, onEnd: () => void) {
    this.#worker = new Worker(startable(entry), {
      // Libraries that read strangers' files need to know nothing of this process, nor what it was started with.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 64 },
    });
    this.#worker.unref();
    this.#worker.on('message', (outcome: unknown) => this.#running?.settle(outcome));
    this.#worker.on('messageerror', () => void this.end('crash'));
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error),
    );
    this.#worker.on('exit', (code) => {
      this.#end('crash', new Error(`exit code ${code}`));
      onEnd();
    });
  }

  /** It takes no further task. */
  get ended(): boolean {
    return this.#ended;
  }

  run(job: Job): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#worker.postMessage(job.task, job.transfer);
      this.#worker.ref();
      const clock = setTimeout(() => this.end('timeout'), job.timeout);
      const largest = process.memoryUsage.rss() + job.maxGrowth;
      const scale = setInterval(() => {
        if (process.memoryUsage.rss() > largest) this.end('memory');
      }, memoryCheckMs);
      const stop = () => {
        this.#running = undefined;
        clearTimeout(clock);
        clearInterval(scale);
        this.#worker.unref();
      };
      this.#running = {
        settle: (outcome) => {
          stop();
          resolve(outcome);
        },
        fail: (failure) => {
          stop();
          reject(failure);
        },
      };
    });
  }

  /** A task that runs fails for this reason. */
  async end(reason: EndReason): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
  }

  #end(reason: EndReason, cause?: unknown): void {
    this.#ended = true;
    this.#running?.fail(new ThreadFailure(reason, cause));
  }
}

/** A thread does not inherit the loader that runs TypeScript sources; it is given one of its own. */
const startable = (entry: URL): URL => {
  if (!entry.pathname.endsWith('.ts')) return entry;
  const loader = import.meta.resolve('tsx/esm/api');
  const script = `import { register } from ${JSON.stringify(loader)};\nregister();\nawait import(${JSON.stringify(entry.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
};
