/** Starts the processes of docker-compose.yml locally: gateways, worker, billing, services and HAProxy. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { answers, buildIfStale, type SluiceProcess, startSluice } from '../chaos/stack.ts';
import { end, freePort, launch } from '../services/child.ts';
import { startClickHouse } from '../services/clickhouse.ts';
import { startKafka } from '../services/kafka.ts';
import { startQdrant } from '../services/qdrant.ts';
import { startRedis } from '../services/redis.ts';
import { s3Environment, startS3 } from '../services/s3.ts';

export interface TopologyGateway extends SluiceProcess {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  readonly admin: string;
  readonly dataDir: string;
}

export interface Topology {
  readonly gateways: readonly [TopologyGateway, TopologyGateway];
  readonly workerData: string;
  /** Where clients ask: both gateways, and the front before them where there is one. */
  readonly addresses: readonly [string, ...string[]];
  /** The last of them, where HAProxy is installed. */
  readonly front: string | undefined;
  readonly key: string;
  readonly redisUrl: string;
  /** Runs a command of the operator on the data of one process; rejects when it ends with another code than 0. */
  sluice(dataDir: string, ...words: string[]): Promise<string>;
  stop(): Promise<void>;
}

const key = 'sk-topology-0123456789abcdef';
const root = fileURLToPath(new URL('../..', import.meta.url));
const command = join(root, 'bin/sluice.mjs');

export const startTopology = async (): Promise<Topology> => {
  buildIfStale();
  // Ten processes that end with this one.
  process.setMaxListeners(32);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-topology-'));
  const running: { stop(): Promise<unknown> }[] = [];
  const started = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const part = await starting;
    running.push(part);
    return part;
  };
  const stop = async (): Promise<void> => {
    for (const part of running.reverse()) await part.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [redis, kafka, clickHouse, qdrant, s3] = await allOf([
      started(startRedis({ own: true, persist: true })),
      started(startKafka({ own: true })),
      started(startClickHouse({ own: true })),
      started(startQdrant({ own: true })),
      started(startS3({ own: true })),
    ] as const);
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()] as const;
    const frontPort = hasHaproxy() ? await freePort() : undefined;
    const frontUrl = frontPort === undefined ? undefined : `http://127.0.0.1:${frontPort}/v1`;
    const settings: Record<string, string> = {
      SLUICE_BOOTSTRAP_KEY: key,
      SLUICE_ALLOW_PRIVATE_URLS: '1',
      SLUICE_DRAIN_SECONDS: '5',
      LOG_LEVEL: 'error',
      REDIS_URL: redis.url,
      KAFKA_BROKERS: kafka.brokers,
      CLICKHOUSE_URL: clickHouse.url,
      QDRANT_URL: qdrant.url,
      ...s3Environment(s3.settings),
      SLUICE_BILLING: 'apart',
      SLUICE_WORKERS: '0',
      ...(frontUrl === undefined ? {} : { SLUICE_PUBLIC_URL: frontUrl }),
    };
    const gateway = async (name: string, port: number, adminPort: number): Promise<TopologyGateway> => {
      const url = `http://127.0.0.1:${port}/v1`;
      const dataDir = join(folder, name);
      const own = { PORT: String(port), SLUICE_ADMIN_PORT: String(adminPort), SLUICE_DATA: dataDir };
      const victim = await started(startSluice(name, ['serve'], { ...settings, ...own }, () => answers(url)));
      return { ...victim, url, admin: `http://127.0.0.1:${adminPort}`, dataDir };
    };
    const workerData = join(folder, 'worker');
    const [first, second] = await allOf([
      gateway('gateway-1', ports[0], ports[1]),
      gateway('gateway-2', ports[2], ports[3]),
      started(
        startSluice('worker', ['worker'], { ...settings, SLUICE_WORKERS: '2', SLUICE_DATA: workerData }),
      ),
      started(startSluice('billing', ['billing'], { ...settings, SLUICE_DATA: join(folder, 'billing') })),
    ] as const);
    if (frontPort !== undefined && frontUrl !== undefined) {
      const file = join(folder, 'haproxy.cfg');
      writeFileSync(file, frontConfig(frontPort, [ports[0], ports[2]], [ports[1], ports[3]]));
      const front = await launch('haproxy', ['-db', '-f', file], () => answers(frontUrl));
      running.push({ stop: () => end(front, 'SIGKILL') });
    }
    return {
      gateways: [first, second],
      workerData,
      addresses: [first.url, second.url, ...(frontUrl === undefined ? [] : [frontUrl])],
      front: frontUrl,
      key,
      redisUrl: redis.url,
      sluice: async (dataDir, ...words) => {
        const env = { PATH: process.env.PATH, ...settings, SLUICE_DATA: dataDir };
        return (await promisify(execFile)(process.execPath, [command, ...words], { env })).stdout;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Like `Promise.all`, but nothing is still starting when it rejects: what came up can be stopped. */
const allOf = async <T extends readonly Promise<unknown>[]>(
  starting: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> => {
  await Promise.allSettled(starting);
  return (await Promise.all(starting)) as { -readonly [K in keyof T]: Awaited<T[K]> };
};

const hasHaproxy = (): boolean => spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status === 0;

/** The front of docker-compose.yml, word for word, but for the addresses. */
const frontConfig = (port: number, gateways: readonly number[], admins: readonly number[]): string => {
  const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
    configs: { front: { content: string } };
  };
  const servers = gateways.map(
    (gateway, index) => (_: string, options: string) =>
      `server gateway${index + 1} 127.0.0.1:${gateway} ${options.replace('9787', String(admins[index]))}`,
  );
  return compose.configs.front.content
    .replace('bind :8787', `bind 127.0.0.1:${port}`)
    .replace(/^resolvers docker\n(?: .*\n)+/m, '')
    .replace(/ resolvers docker init-addr \S+/, '')
    .replace(/server-template gateway 2 gateway:8787 (.*)/, (line, options: string) =>
      servers.map((write) => write(line, options)).join('\n  '),
    );
};
