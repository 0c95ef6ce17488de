/** A command and its input in; what it writes goes to a receiver: bounded in time and bytes, killed when aborted, settled only when it is gone. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { Observable, type Subscription } from 'rxjs';
import { Demand } from '../ports/demand.ts';

export interface ProcessTask {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly input: Observable<Uint8Array> | Uint8Array | undefined;
  /** Paused while the process is behind with an input that is a stream. */
  readonly inputDemand: Demand | undefined;
  /** Holds back the output. */
  readonly demand: Demand;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Why a process gave no whole answer. */
export class ProcessFailure extends Error {
  readonly reason: 'start' | 'exit' | 'time' | 'bytes';

  constructor(reason: ProcessFailure['reason'], log: string, cause?: unknown) {
    super(`${reason}: ${log.trim().slice(-500)}`, { cause });
    this.name = 'ProcessFailure';
    this.reason = reason;
  }
}

const maxLogLength = 256 * 1024;
/** Below the process that holds the sockets, so that streams go on while something is converted. */
const niceness = 10;

/** Resolves with what the process told about its work. */
export const runProcess = (
  task: ProcessTask,
  signal: AbortSignal,
  receive: (bytes: Buffer) => void,
): Promise<string> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(task.file, task.arguments, {
      shell: false,
      windowsHide: true,
      // Nothing of ours is its business.
      env: { LC_ALL: 'C' },
    });
    let log = '';
    let received = 0;
    let ending: (() => unknown) | undefined;

    const stop = (reason: () => unknown) => {
      ending ??= reason;
      child.kill('SIGKILL');
    };
    const abort = () => stop(() => signal.reason);
    const clock = setTimeout(() => stop(() => new ProcessFailure('time', log)), task.timeoutMs);
    const output = { pause: () => child.stdout.pause(), resume: () => child.stdout.resume() };
    const feeding = feed(child, task, (error) => stop(() => error));

    const settle = (outcome: () => void) => {
      clearTimeout(clock);
      signal.removeEventListener('abort', abort);
      task.demand.detach(output);
      feeding?.unsubscribe();
      outcome();
    };
    signal.addEventListener('abort', abort, { once: true });
    child.on('spawn', () => lowerPriority(child));
    child.on('error', (cause) => {
      // One that never started is never closed.
      if (child.pid === undefined) settle(() => reject(new ProcessFailure('start', log, cause)));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (log.length < maxLogLength) log += text;
    });
    child.stdout.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (ending !== undefined) return;
      if (received > task.maxBytes) stop(() => new ProcessFailure('bytes', log));
      else receive(bytes);
    });
    // A reader that holds back must not keep a process from being seen to end.
    child.on('exit', () => {
      if (ending !== undefined) child.stdout.destroy();
    });
    child.on('close', (code) =>
      settle(() => {
        if (ending !== undefined) reject(ending());
        else if (code === 0) resolve(log);
        else reject(new ProcessFailure('exit', log));
      }),
    );
    task.demand.attach(output);
  });

const feed = (
  child: ChildProcessWithoutNullStreams,
  { input, inputDemand = new Demand() }: ProcessTask,
  fail: (error: unknown) => void,
): Subscription | undefined => {
  const { stdin } = child;
  if (!(input instanceof Observable)) {
    // A process that has enough closes its input; that is no failure, here and below.
    stdin.on('error', () => {});
    stdin.end(input ?? '');
    return undefined;
  }
  stdin.on('drain', () => inputDemand.resume());
  const feeding = input.subscribe({
    next: (bytes) => {
      if (!stdin.write(bytes)) inputDemand.pause();
    },
    error: fail,
    complete: () => stdin.end(),
  });
  stdin.on('error', () => feeding.unsubscribe());
  return feeding;
};

const lowerPriority = ({ pid }: ChildProcessWithoutNullStreams): void => {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // It is gone already, or the system does not let us: it runs as it is.
  }
};
