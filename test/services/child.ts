/** Starts a service as a child process that ends with the test run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';

/** Where `test/services/fetch` puts what cannot be installed by a package manager. */
export const servicesFolder = process.env.SLUICE_SERVICES ?? join(homedir(), '.cache', 'sluice-services');

/** Why a suite leaves out the services it would have to start: starting them is a command of its own. */
export const notAskedFor = (): string | undefined =>
  process.env.TAP === '1' && process.env.SLUICE_TEST_SERVICES !== '1'
    ? 'npm run test:services runs it'
    : undefined;

/**
 * A new folder for the data of a service, in memory where the system has room there: Kafka syncs every change of its
 * metadata, and on a disk that takes 200 ms for that, its brokers take each other for dead.
 */
export const dataFolder = async (name: string): Promise<string> =>
  mkdtemp(join((await hasRoom(memoryFolder)) ? memoryFolder : tmpdir(), `sluice-${name}-`));

const memoryFolder = '/dev/shm';
const enoughBytes = 2 * 1024 ** 3;

const hasRoom = async (folder: string): Promise<boolean> => {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > enoughBytes;
  } catch {
    return false; // not on Linux
  }
};

/** Starts a program and waits until `ready` says so, for a minute at most. */
export const launch = async (
  program: string,
  args: readonly string[],
  ready: () => Promise<boolean>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ChildProcess> => {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: environment });
  let complaint = '';
  child.stderr?.on('data', (text: Buffer) => {
    complaint = (complaint + text.toString()).slice(-2_000);
  });
  // A test run that is cut short leaves nothing behind.
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  child.once('exit', () => process.off('exit', onExit));
  try {
    await eventually(
      () => {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
        return ready();
      },
      `${program} is ready`,
      60,
    );
    return child;
  } catch (cause) {
    child.kill('SIGKILL');
    throw new Error(`${program} did not start: ${complaint}`, { cause });
  }
};

/** A process that may be disturbed, and started again on the same port and data. */
export interface Disturbed {
  /** As a crash would. */
  kill(): Promise<void>;
  revive(): Promise<void>;
  /** Its connections stay open, and nothing responds. */
  freeze(): void;
  thaw(): void;
}

export const disturbed = async (start: () => Promise<ChildProcess>): Promise<Disturbed> => {
  let child = await start();
  return {
    kill: () => end(child, 'SIGKILL'),
    revive: async () => {
      child = await start();
    },
    freeze: () => {
      child.kill('SIGSTOP');
    },
    thaw: () => {
      child.kill('SIGCONT');
    },
  };
};

export const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
};

/** Suites that run at the same time have ports of their own: those with one remainder. */
const [lane = 0, lanes = 1] = (process.env.SLUICE_TEST_PORTS ?? '0/1').split('/').map(Number);
const given = new Set<number>();

/**
 * Below the ports that systems give out themselves (from 32768 on Linux, 49152 on macOS): until a child listens on it,
 * no other server or connection gets it. A thousand above, where a gateway serves its metrics, is free too.
 */
export const freePort = async (): Promise<number> => {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const port = randomInt(20_000 / lanes, 31_000 / lanes) * lanes + lane;
    if (given.has(port) || given.has(port - 1000) || given.has(port + 1000)) continue;
    if (!(await isFree(port)) || !(await isFree(port + 1000))) continue;
    given.add(port);
    return port;
  }
  throw new Error('no free port');
};

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
