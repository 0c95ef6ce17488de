/** A Redis for tests: `REDIS_URL`, or a `redis-server` on a free loopback port. */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dataFolder, end, freePort, launch, notAskedFor } from './child.ts';

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
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  const found = spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  if (found) return undefined;
  return `no ${program} on PATH${own ? ' for tests that stop and restart it' : ' and REDIS_URL is not set'}`;
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
  const folder = await dataFolder('redis');
  const port = await freePort();
  let server = await launchRedis(port, folder, options);
  return {
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return server;
    },
    restart: async () => {
      await end(server, 'SIGKILL');
      server = await launchRedis(port, folder, options);
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const sharedUrl = (): string | undefined => process.env.REDIS_URL || undefined;

/** Another one that speaks the protocol, such as `valkey-server`. */
const program = process.env.SLUICE_REDIS_SERVER ?? 'redis-server';

export const launchRedis = (
  port: number,
  folder: string,
  options: RedisServiceOptions,
  more: readonly string[] = [],
): Promise<ChildProcess> => {
  const persistence = options.persist ? ['--appendonly', 'yes', '--appendfsync', 'always'] : [];
  const place = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder];
  return launch(program, [...place, '--save', '', ...persistence, ...more], () => pong(port));
};

/** With a file of settings, which it writes to. */
export const launchSentinel = (port: number, folder: string, file: string): Promise<ChildProcess> =>
  launch(program, [file, '--sentinel', '--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder], () =>
    pong(port),
  );

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
