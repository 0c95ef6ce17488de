/** A worker in a process of its own: what a stranger's file makes it take is counted by itself, and ends with it. */
import { type ChildProcess, fork } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type EndReason, type Job, type Worker, WorkerFailure, type WorkerOptions } from './pool-worker.ts';

/** To the process: one task, and how many bytes of it follow on its standard input. */
export interface Assignment extends Omit<Job, 'transfer' | 'payload'> {
  readonly entry: string;
  readonly heapMegabytes: number;
  readonly payloadBytes: number;
}

/** From the process: its outcome, or why there is none. */
export type Report = { readonly outcome: unknown } | { readonly failed: EndReason };

interface Running {
  report(report: Report): void;
  fail(failure: WorkerFailure): void;
}

/** The process times its task itself; past this many milliseconds more it does not respond. */
const unresponsiveMs = 5_000;

export class WorkerProcess implements Worker {
  readonly #options: WorkerOptions;
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  #running: Running | undefined;
  #ended = false;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#process = fork(script, [], {
      // It needs to know nothing of this process, nor what it was started with.
      env: {},
      execArgv: loader,
      stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.#setRef('unref');
    this.#process.on('message', (report: Report) => this.#running?.report(report));
    this.#process.on('error', (error) => this.#end('crash', error));
    // A process that has ended reads no more: its exit settles what it ran.
    this.#process.stdin?.on('error', () => undefined);
    this.#exited = new Promise((resolve) => {
      const over = (code: number | null, signal?: string | null) => {
        this.#end('crash', new Error(`it exited with ${signal ?? code}`));
        resolve();
        options.onEnd();
      };
      this.#process.once('exit', over);
      this.#process.once('error', () => {
        // A process that was not started emits no `exit`.
        if (this.#process.pid === undefined) over(null);
      });
    });
  }

  get ended(): boolean {
    return this.#ended;
  }

  run({ task, timeout, payload = nothing, process: limits }: Job): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const clock = setTimeout(() => this.end('timeout'), timeout + unresponsiveMs);
      const stop = () => {
        this.#running = undefined;
        clearTimeout(clock);
        this.#setRef('unref');
      };
      this.#running = {
        report: (report) => {
          if ('failed' in report) return void this.end(report.failed);
          stop();
          resolve(report.outcome);
        },
        fail: (failure) => {
          stop();
          reject(failure);
        },
      };
      this.#setRef('ref');
      const { entry, heapMegabytes } = this.#options;
      const assignment: Assignment = {
        task,
        timeout,
        entry: entry.href,
        heapMegabytes,
        payloadBytes: payload.length,
        ...(limits !== undefined && { process: limits }),
      };
      // What cannot be sent is settled by the end of the process.
      this.#process.send(assignment, (error) => error && this.#end('crash', error));
      if (payload.length > 0) this.#process.stdin?.write(payload);
    });
  }

  async end(reason: EndReason): Promise<void> {
    this.#end(reason);
    // Whoever waits for a worker gets the next one only after this one's exit.
    this.#setRef('ref');
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  #end(reason: EndReason, cause?: unknown): void {
    this.#ended = true;
    this.#running?.fail(new WorkerFailure(reason, cause));
  }

  #setRef(word: 'ref' | 'unref'): void {
    this.#process[word]();
    this.#process.channel?.[word]();
    if (this.#process.stdin instanceof Socket) this.#process.stdin[word]();
  }
}

const nothing = new Uint8Array();
/** TypeScript sources need a loader. */
const isSource = import.meta.url.endsWith('.ts');
const script = fileURLToPath(
  new URL(isSource ? './worker-process-main.ts' : './worker-process-main.js', import.meta.url),
);
const loader = isSource ? ['--import', import.meta.resolve('tsx')] : [];
