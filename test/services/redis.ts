/** A Redis for tests: the one `REDIS_URL` names, or a `redis-server` of our own on a free loopback port. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface RedisService {
  readonly url: string;
  /** Undefined when the service is not ours: such tests need one they may stop. */
  readonly process: ChildProcess | undefined;
  /** Kills it as a crash would and starts it again on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisServiceOptions {
  /** Keep an append-only file, so that data outlives `restart`. */
  readonly persist?: boolean;
  /** Never the shared service: the test means to stop, pause or flush it. */
  readonly own?: boolean;
}

/** Why there is no Redis to test with; undefined when there is one. */
export const redisMissing = ({ own = false }: RedisServiceOptions = {}): string | undefined => {
  if (!own && sharedUrl() !== undefined) return undefined;
  const found = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
  if (found) return undefined;
  return `no redis-server on PATH${own ? ' for tests that stop and restart it' : ' and REDIS_URL is not set'}`;
};

export const startRedis = async (options: RedisServiceOptions = {}): Promise<RedisService> => {
  const url = sharedUrl();
  if (url !== undefined && options.own !== true)
    return {
      url,
      process: undefined,
      restart: () => Promise.reject(new Error('This Redis is not ours to restart.')),
      stop: async () => undefined,
    };
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'));
  const port = await freePort();
  let server = await launch(port, folder, options);
  return {
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return server;
    },
    restart: async () => {
      await end(server, 'SIGKILL');
      server = await launch(port, folder, options);
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const sharedUrl = (): string | undefined => process.env.REDIS_URL || undefined;

const launch = async (port: number, folder: string, options: RedisServiceOptions): Promise<ChildProcess> => {
  const persistence = options.persist ? ['--appendonly', 'yes', '--appendfsync', 'always'] : [];
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...persistence];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  // A test run that is cut short leaves nothing behind.
  const onExit = () => server.kill('SIGKILL');
  process.once('exit', onExit);
  server.once('exit', () => process.off('exit', onExit));
  await answers(port, server);
  return server;
};

const answers = async (port: number, server: ChildProcess): Promise<void> => {
  for (let attempt = 0; attempt < 400; attempt++) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`);
    if (await pong(port)) return;
    await delay(25);
  }
  throw new Error('redis-server did not answer within its time');
};

const pong = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (data) => settle(data.toString().startsWith('+PONG')));
    socket.once('error', () => settle(false));
    socket.setTimeout(1_000, () => settle(false));
  });

const end = async (server: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  server.kill(signal);
  await gone;
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
