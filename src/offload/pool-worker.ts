/** What a pool knows of its workers: each runs one task at a time, and says why it ended. */

export interface Job {
  readonly task: unknown;
  /** Buffers of the task that move to the worker. */
  readonly transfer: readonly ArrayBuffer[];
  /**
   * Bytes for a worker that has a process to itself, which finds them as `payload` of the task. They go through a pipe: a
   * message would be copied on the event loop, a millisecond per megabyte.
   */
  readonly payload?: Uint8Array;
  /** Milliseconds it may run. */
  readonly timeout: number;
  /** Of a worker that has a process to itself: what this may take meanwhile. */
  readonly process?: ProcessLimits;
}

export interface ProcessLimits {
  /** Milliseconds of processor time: on a busy machine a task that gets little of it is not slow. */
  readonly cpuMs: number;
  /** Bytes by which it may grow: buffers are not under a thread's own memory limit. */
  readonly growth: number;
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
