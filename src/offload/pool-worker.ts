/** What a pool knows of its workers: each runs one task at a time, and says why it ended. */

export interface Job {
  readonly task: unknown;
  /** Buffers of the task that move to the worker. */
  readonly transfer: readonly ArrayBuffer[];
  /** Milliseconds it may run. */
  readonly timeout: number;
  /** Bytes by which the worker's process may grow meanwhile: buffers are not under a thread's own memory limit. */
  readonly maxGrowth: number;
}

export interface Worker {
  /** It takes no further task. */
  readonly ended: boolean;
  /** Rejects with a `WorkerFailure` when it ends before its result. */
  run(job: Job): Promise<unknown>;
  /** A task that runs fails for this reason. */
  end(reason: EndReason): Promise<void>;
}

export interface WorkerOptions {
  /** The script it runs. */
  readonly entry: URL;
  /** JavaScript heap of its thread. */
  readonly heapMegabytes: number;
  readonly onEnd: () => void;
}

export type EndReason = 'timeout' | 'memory' | 'crash' | 'closed';

export class WorkerFailure extends Error {
  readonly reason: EndReason;

  constructor(reason: EndReason, cause?: unknown) {
    super(`The worker ended: ${reason}`, { cause });
    this.name = 'WorkerFailure';
    this.reason = reason;
  }
}
