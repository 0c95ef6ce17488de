/** A Redis Cluster for tests: three primaries with a replica each, on free loopback ports. */
import type { ChildProcess } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../eventually.ts';
import { dataFolder, end, freePort, isFree } from './child.ts';
import { launchRedis } from './redis.ts';

export interface RedisNode {
  readonly port: number;
  process: ChildProcess;
  admin: Redis;
}

export interface RedisGroup {
  readonly url: string;
  readonly nodes: readonly RedisNode[];
  /** The node that has a key's slot now; of sentinels the primary. */
  primaryOf(key: string): Promise<RedisNode>;
  /** As a crash would. */
  kill(node: RedisNode): Promise<void>;
  /** Starts it again, without data unless it keeps some: it becomes a replica. */
  revive(node: RedisNode): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds until a silent node counts as failed. */
const nodeTimeout = 2_000;
const primaries = 3;
const slots = 16_384;

export interface RedisClusterOptions {
  /** Keep an append-only file, so that a primary that is back before its replica took over has its data. */
  readonly persist?: boolean;
}

export const startRedisCluster = async ({
  persist = false,
}: RedisClusterOptions = {}): Promise<RedisGroup> => {
  const folder = await dataFolder('redis-cluster');
  const options = persist ? [...clusterOptions, '--appendonly', 'yes'] : clusterOptions;
  const ports: number[] = [];
  while (ports.length < 2 * primaries) ports.push(await clusterPort());
  const nodes = await Promise.all(ports.map((port) => startNode(port, folder, options)));
  await form(nodes);
  return {
    url: `redis://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    primaryOf: async (key) => {
      const living = nodes.find(({ process }) => process.exitCode === null && process.signalCode === null);
      if (living === undefined) throw new Error('no node is left');
      const slot = Number(await living.admin.cluster('KEYSLOT', key));
      const ranges = await living.admin.cluster('SLOTS');
      const found = ranges.find(([first, last]) => first <= slot && slot <= last);
      const node = nodes.find(({ port }) => port === found?.[2]?.[1]);
      if (node === undefined) throw new Error(`nobody has slot ${slot}`);
      return node;
    },
    kill,
    revive: (node) => revive(node, folder, options),
    stop: () => stopAll(nodes, folder),
  };
};

const clusterOptions = [
  ...['--cluster-enabled', 'yes', '--cluster-node-timeout', `${nodeTimeout}`],
  // What the other primaries have stays available.
  ...['--cluster-require-full-coverage', 'no', '--cluster-replica-validity-factor', '0'],
];

export const startNode = async (
  port: number,
  folder: string,
  options: readonly string[],
): Promise<RedisNode> => {
  const own = join(folder, String(port));
  await mkdir(own, { recursive: true });
  return asNode(port, await launchRedis(port, own, {}, options));
};

export const asNode = (port: number, process: ChildProcess): RedisNode => {
  const admin = new Redis(port, '127.0.0.1', { retryStrategy: () => null });
  admin.on('error', () => undefined);
  return { port, process, admin };
};

export const kill = async ({ process, admin }: RedisNode): Promise<void> => {
  admin.disconnect();
  await end(process, 'SIGKILL');
};

export const revive = async (node: RedisNode, folder: string, options: readonly string[]): Promise<void> => {
  Object.assign(node, await startNode(node.port, folder, options));
};

export const stopAll = async (nodes: readonly RedisNode[], folder: string): Promise<void> => {
  for (const { admin } of nodes) admin.disconnect();
  await Promise.all(nodes.map(({ process }) => end(process, 'SIGKILL')));
  await rm(folder, { recursive: true, force: true });
};

const form = async (nodes: readonly RedisNode[]): Promise<void> => {
  const [first, ...others] = nodes;
  if (first === undefined) throw new Error('no node');
  for (const [index, { admin }] of nodes.entries()) {
    await admin.cluster('SET-CONFIG-EPOCH', index + 1);
    if (index >= primaries) continue;
    const from = Math.ceil((index * slots) / primaries);
    const to = Math.ceil(((index + 1) * slots) / primaries) - 1;
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
  }
  for (const { admin } of others) await admin.cluster('MEET', '127.0.0.1', first.port);
  await eventually(async () => {
    const known = await Promise.all(nodes.map(({ admin }) => admin.cluster('NODES')));
    return known.every((text) => String(text).trim().split('\n').length === nodes.length);
  }, 'nodes that know each other');
  for (const [index, { admin }] of nodes.entries()) {
    const primary = nodes[index - primaries];
    if (primary === undefined) continue;
    const id = String(await primary.admin.cluster('MYID'));
    await eventually(
      () =>
        admin.cluster('REPLICATE', id).then(
          () => true,
          () => false,
        ),
      'a replica',
    );
  }
  await eventually(async () => {
    const states = await Promise.all(nodes.map(({ admin }) => admin.cluster('INFO')));
    const links = await Promise.all(nodes.slice(primaries).map(({ admin }) => admin.info('replication')));
    return (
      states.every((text) => String(text).includes('cluster_state:ok')) &&
      links.every((text) => text.includes('master_link_status:up'))
    );
  }, 'a cluster with replicas');
};

/** The bus of the cluster is on a port of its own, ten thousand above. */
const clusterPort = async (): Promise<number> => {
  for (;;) {
    const port = await freePort();
    if (await isFree(port + 10_000)) return port;
  }
};
