/** A worker on a thread of this process; it holds the process alive only while it works. */
import { Worker as WorkerThread } from 'node:worker_threads';
import {
  type EndReason,
  type Job,
  type ProcessLimits,
  type Worker,
  WorkerFailure,
  type WorkerOptions,
} from './pool-worker.ts';

interface Running {
  settle(outcome: unknown): void;
  fail(failure: WorkerFailure): void;
}

const watchMs = 25;

export class Thread implements Worker {
  readonly #thread: WorkerThread;
  #running: Running | undefined;
  #ended = false;

  constructor({ entry, heapMegabytes, onEnd }: WorkerOptions) {
    this.#thread = new WorkerThread(startable(entry), {
      // Libraries that read strangers' files need to know nothing of this process, nor what it was started with.
      env: {},
      argv: [],
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: 16 },
    });
    this.#thread.unref();
    this.#thread.on('message', (outcome: unknown) => this.#running?.settle(outcome));
    this.#thread.on('messageerror', () => void this.end('crash'));
    this.#thread.on('error', (error: NodeJS.ErrnoException) =>
      this.#end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error),
    );
    this.#thread.on('exit', (code) => {
      this.#end('crash', new Error(`exit code ${code}`));
      onEnd();
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  run(job: Job): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#thread.postMessage(job.task, job.transfer);
      this.#thread.ref();
      const clock = setTimeout(() => this.end('timeout'), job.timeout);
      const watch = job.process && watchProcess(job.process, (reason) => this.end(reason));
      const stop = () => {
        this.#running = undefined;
        clearTimeout(clock);
        clearInterval(watch);
        this.#thread.unref();
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

  async end(reason: EndReason): Promise<void> {
    this.#end(reason);
    await this.#thread.terminate();
  }

  #end(reason: EndReason, cause?: unknown): void {
    this.#ended = true;
    this.#running?.fail(new WorkerFailure(reason, cause));
  }
}

const watchProcess = (
  { cpuMs, growth }: ProcessLimits,
  exceeded: (reason: EndReason) => void,
): NodeJS.Timeout => {
  const before = process.cpuUsage();
  const largest = process.memoryUsage.rss() + growth;
  return setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    if (process.memoryUsage.rss() > largest) exceeded('memory');
    else if ((user + system) / 1000 > cpuMs) exceeded('timeout');
  }, watchMs);
};

/** A thread does not inherit the loader that runs TypeScript sources; it is given one of its own. */
const startable = (entry: URL): URL => {
  if (!entry.pathname.endsWith('.ts')) return entry;
  const loader = import.meta.resolve('tsx/esm/api');
  const script = `import { register } from ${JSON.stringify(loader)};\nregister();\nawait import(${JSON.stringify(entry.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
};
