/** A command and its input in; what it writes goes to a receiver: bounded in time and bytes, killed when aborted, settled only when it is gone. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Observable, type Subscription } from 'rxjs';
import { Backpressure } from '../ports/backpressure.ts';
import type { Starter } from './starter.ts';

export interface ProcessTask {
  readonly file: string;
  readonly arguments: readonly string[];
  readonly input: Observable<Uint8Array> | Uint8Array | undefined;
  /** Paused while the process is behind with an input that is a stream. */
  readonly inputBackpressure: Backpressure | undefined;
  /** Holds back the output. */
  readonly backpressure: Backpressure;
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

/** Resolves with what the process told about its work. */
export const runProcess = async (
  starter: Starter,
  task: ProcessTask,
  signal: AbortSignal,
  receive: (bytes: Buffer) => void,
): Promise<string> => {
  signal.throwIfAborted();
  const started = await starter.start(task.file, task.arguments).catch((cause: unknown) => {
    throw new ProcessFailure('start', String(cause), cause);
  });
  const { input, output, ended, kill } = started;
  let received = 0;
  let failure: ((log: string) => unknown) | undefined;
  const stop = (reason: (log: string) => unknown) => {
    failure ??= reason;
    kill();
  };
  const abort = () => stop(() => signal.reason);
  const clock = setTimeout(() => stop((log) => new ProcessFailure('time', log)), task.timeoutMs);
  const reader = { pause: () => output.pause(), resume: () => output.resume() };

  output.on('data', (bytes: Buffer) => {
    received += bytes.length;
    if (failure !== undefined) return;
    if (received > task.maxBytes) stop((log) => new ProcessFailure('bytes', log));
    else receive(bytes);
  });
  // One that had nothing to say may have closed it before both of its pipes were known here.
  const closed = output.closed ? undefined : once(output, 'close');
  const feeding = feed(input, task, (error) => stop(() => error));
  task.backpressure.attach(reader);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    const { code, log } = await ended.catch((cause: unknown) => {
      throw failure?.('') ?? new ProcessFailure('start', String(cause), cause);
    });
    // A reader that holds back must not keep a process from being seen to end.
    if (failure !== undefined) output.destroy();
    await closed;
    if (failure !== undefined) throw failure(log);
    if (code !== 0) throw new ProcessFailure('exit', log);
    return log;
  } finally {
    clearTimeout(clock);
    signal.removeEventListener('abort', abort);
    task.backpressure.detach(reader);
    feeding?.unsubscribe();
    input.destroy();
    output.destroy();
  }
};

const feed = (
  target: Socket,
  { input, inputBackpressure = new Backpressure() }: ProcessTask,
  fail: (error: unknown) => void,
): Subscription | undefined => {
  if (!(input instanceof Observable)) {
    target.end(input ?? '');
    return undefined;
  }
  target.on('drain', () => inputBackpressure.resume());
  const feeding = input.subscribe({
    next: (bytes) => {
      if (!target.write(bytes)) inputBackpressure.pause();
    },
    error: fail,
    complete: () => target.end(),
  });
  // A process that has enough closes its input; that is no failure.
  target.on('close', () => feeding.unsubscribe());
  return feeding;
};
