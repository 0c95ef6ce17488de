/** Starts the benchmark's processes and stops them all with it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const started = new Set<ChildProcess>();

export interface Start {
  readonly command: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a process with an IPC channel; its last lines of output are kept for error messages. */
export const start = ({ command, folder, environment }: Start): ChildProcess => {
  const [file = '', ...args] = command;
  const child = spawn(file === 'node' ? process.execPath : file, args, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // A process group of its own: some peers start processes that outlive them.
    detached: true,
  });
  started.add(child);
  child.once('exit', () => started.delete(child));
  const keep = (bytes: Buffer): void => {
    lastWords.set(child, ((lastWords.get(child) ?? '') + bytes.toString()).slice(-2000));
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.once('error', (error) => keep(Buffer.from(error.message)));
  return child;
};

const lastWords = new WeakMap<ChildProcess, string>();
export const wordsOf = (child: ChildProcess): string => lastWords.get(child)?.trim() ?? '';

/** The next message of a process; rejects when it exits or times out. */
export const nextMessage = <Message>(child: ChildProcess, withinSeconds: number): Promise<Message> =>
  new Promise((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      child.off('message', onMessage);
      child.off('exit', onExit);
      finish();
    };
    const onMessage = (message: unknown): void => settle(() => resolve(message as Message));
    const onExit = (): void => settle(() => reject(new Error(`process exited early: ${wordsOf(child)}`)));
    const timer = setTimeout(
      () => settle(() => reject(new Error(`no message within ${withinSeconds} s: ${wordsOf(child)}`))),
      withinSeconds * 1000,
    );
    child.on('message', onMessage);
    child.on('exit', onExit);
  });

export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const grace = setTimeout(() => killGroup(child), 1500);
  await gone;
  clearTimeout(grace);
};

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
};

/** Retries until the condition holds; false on timeout. */
export const eventually = async (
  condition: () => Promise<boolean>,
  withinSeconds: number,
): Promise<boolean> => {
  const until = performance.now() + withinSeconds * 1000;
  while (performance.now() < until) {
    if (await condition()) return true;
    await pause(50);
  }
  return false;
};

const killAll = (): void => {
  for (const child of started) killGroup(child);
};

const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

process.once('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(130));
}
