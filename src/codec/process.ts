/** Runs one ffmpeg process: feeds its input, passes on its output, and bounds both in time and bytes. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { Observable, type Subscription } from 'rxjs';
import { Backpressure } from '../ports/backpressure.ts';
import type { RunContext } from './runner.ts';
import type { RunLimits } from './sandbox.ts';

interface ProcessTask {
  /** Of ffmpeg. */
  readonly arguments: readonly string[];
  /** Files that they name: no others can be opened. */
  readonly files: Pick<RunLimits, 'input' | 'output'>;
  readonly input: Observable<Uint8Array> | Uint8Array | undefined;
  /** Paused while the process is behind with an input that is a stream. */
  readonly inputBackpressure: Backpressure | undefined;
  /** Holds back the output. */
  readonly backpressure: Backpressure;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** Why a process did not finish its output. */
export class ProcessFailure extends Error {
  readonly reason: 'start' | 'exit' | 'time' | 'bytes';

  constructor(reason: ProcessFailure['reason'], log: string, cause?: unknown) {
    super(`${reason}: ${log.trim().slice(-500)}`, { cause });
    this.name = 'ProcessFailure';
    this.reason = reason;
  }
}

/** Resolves with the log of the process once it has exited; rejects when it failed or was killed. */
export const runProcess = async (
  { provider, spawner, signal }: Omit<RunContext, 'folder'>,
  task: ProcessTask,
  receive: (bytes: Buffer) => void,
): Promise<string> => {
  signal.throwIfAborted();
  const { maxBytes, timeoutMs } = task;
  const limits = { ...task.files, filter: spawner.filter, maxBytes, timeoutMs };
  const command = provider.command(task.arguments, limits);
  const started = await spawner.start(command).catch((cause: unknown) => {
    throw new ProcessFailure('start', String(cause), cause);
  });
  const { input, output, ended, kill } = started;
  let received = 0;
  let failure: ((log: string) => unknown) | undefined;
  const stop = (reason: (log: string) => unknown) => {
    failure ??= reason;
    kill();
    // Also after its exit: a reader that is paused never comes to the end of the output.
    input.destroy();
    output.destroy();
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
  output.once('error', (error) => stop(() => error));
  // A process without output may have closed it before both of its pipes were accepted here.
  const closed = new Promise<void>((resolve) => (output.closed ? resolve() : output.once('close', resolve)));
  const feeding = feed(input, task, (error) => stop(() => error));
  task.backpressure.attach(reader);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    const { code, log } = await ended.catch((cause: unknown) => {
      throw failure?.('') ?? new ProcessFailure('start', String(cause), cause);
    });
    // What is left of a failed output is of no use: its reader may be slow.
    if (code !== 0) output.destroy();
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
  // A process that needs no more input closes it; that is no failure.
  target.on('close', () => feeding.unsubscribe());
  return feeding;
};

interface OutputOptions {
  readonly maxBytes: number;
  readonly backpressure: Backpressure;
  readonly signal: AbortSignal;
}

/** Passes on the bytes of a finished file, with backpressure. */
export const readOutputFile = async (
  file: string,
  { maxBytes, backpressure, signal }: OutputOptions,
  receive: (bytes: Buffer) => void,
): Promise<void> => {
  const { size } = await stat(file);
  if (size > maxBytes) throw new ProcessFailure('bytes', `${size} bytes were written`);
  const source = createReadStream(file, { signal });
  const listener = { pause: () => source.pause(), resume: () => source.resume() };
  try {
    await new Promise<void>((resolve, reject) => {
      source.on('data', (bytes) => receive(bytes as Buffer));
      source.on('error', (error) => reject(signal.aborted ? signal.reason : error));
      source.on('end', resolve);
      backpressure.attach(listener);
    });
  } finally {
    backpressure.detach(listener);
  }
};
