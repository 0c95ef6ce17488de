/** Limits how many ffmpeg processes run at once, and gives each its command and a private folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fail } from '../errors.ts';
import { Semaphore } from '../helpers/semaphore.ts';
import type { ResourceStats } from '../ports/shared.ts';
import { CurrentSpawner } from './current-spawner.ts';
import { findProvider, type Provider, type ProviderOptions } from './provider.ts';
import type { Spawner } from './spawner.ts';

export interface RunnerOptions extends ProviderOptions {
  /** Processes at once whose input is complete, and of those that wait for a stream, … */
  readonly maxRuns?: number;
  readonly maxStreams?: number;
  /** … how many may wait for one to end, … */
  readonly maxWaiting?: number;
  /** … each for so many milliseconds. */
  readonly maxWait?: number;
}

export interface RunContext {
  readonly provider: Provider;
  readonly spawner: Spawner;
  /** Of this run alone, and removed after it; empty where none was requested. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

interface RunRequest {
  /** Whose run it is. */
  readonly subscription: string;
  /** Its input is a stream: it mostly waits for whoever produces that, and must not make other runs wait. */
  readonly streams: boolean;
  readonly needsFolder: boolean;
  readonly signal: AbortSignal;
}

const busy = 'The service is busy with other sound and video; retry in a moment';

export class Runner {
  readonly #options: RunnerOptions;
  readonly #runs: Semaphore;
  readonly #streams: Semaphore;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #spawner = new CurrentSpawner();

  constructor(options: RunnerOptions) {
    const cores = availableParallelism();
    const { maxWaiting = 128 } = options;
    this.#options = options;
    const { maxRuns = Math.max(2, cores) + 1, maxStreams = Math.max(16, 4 * cores) } = options;
    this.#runs = new Semaphore({ permits: maxRuns, maxWaiters: maxWaiting, busy });
    this.#streams = new Semaphore({ permits: maxStreams, maxWaiters: maxWaiting, busy });
  }

  /** Settles, and releases its permit, only when everything that the work started has ended. */
  async run<T>(
    { subscription, streams, needsFolder, signal: caller }: RunRequest,
    work: (context: RunContext) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.any([caller, this.#closing.signal]);
    const waiting = new AbortController();
    const { maxWait = 30_000 } = this.#options;
    const timer = setTimeout(() => waiting.abort(fail('unavailable', busy)), maxWait);
    const run = (streams ? this.#streams : this.#runs)
      .run({ subscription, signal: AbortSignal.any([signal, waiting.signal]) }, async () => {
        clearTimeout(timer);
        const provider = await findProvider(this.#options);
        signal.throwIfAborted();
        const context = { provider, spawner: await this.#spawner.get(), folder: '', signal };
        return needsFolder ? inPrivateFolder(context, work) : work(context);
      })
      .finally(() => {
        clearTimeout(timer);
        this.#running.delete(run);
      });
    this.#running.add(run);
    return run;
  }

  stats(): Readonly<Record<'runs' | 'streams', ResourceStats>> {
    return { runs: this.#runs.stats(), streams: this.#streams.stats() };
  }

  /** A private folder for whoever removes it again; it is removed with the others at the end. */
  async createFolder(): Promise<string> {
    this.#closing.signal.throwIfAborted();
    return privateFolder(await this.#spawner.get());
  }

  async close(): Promise<void> {
    this.#closing.abort(fail('unavailable', 'The service is shutting down'));
    await Promise.allSettled(this.#running);
    await this.#spawner.close();
  }
}

/** Inside the spawner's folder, which is removed even when the gateway is killed; created with mode 0700. */
const privateFolder = (spawner: Spawner): Promise<string> => mkdtemp(join(spawner.folder, 'run-'));

const inPrivateFolder = async <T>(
  context: RunContext,
  work: (context: RunContext) => Promise<T>,
): Promise<T> => {
  const folder = await privateFolder(context.spawner);
  try {
    return await work({ ...context, folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
