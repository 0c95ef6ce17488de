/** The parts of a cluster that may be disturbed, each with what shows that it works again. */
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import type { KafkaSettings } from '../../../src/adapters/events/kafka-client.ts';
import { partitions, partitionTag } from '../../../src/adapters/redis-partitions.ts';
import type { Ledger } from '../../../src/ports/ledger.ts';
import { partitionsOf } from '../../billing/kafka-load.ts';
import type { Disturbed } from '../../services/child.ts';
import type { KafkaNode } from '../../services/kafka.ts';
import type { RedisGroup, RedisNode } from '../../services/redis-cluster.ts';
import type { Client } from '../../topology/client.ts';
import { chatQuantities } from '../../topology/operations.ts';
import type { Look, Part } from './faults.ts';
import { type Created, hasEnded, type Jobs, stateOf } from './jobs.ts';

type ChatUsage = Parameters<typeof chatQuantities>[0];

/** Milliseconds that one look waits for what follows a response: a row in the ledger, the end of a job. */
const followWithin = 30_000;
const orderEvery = 20_000;

export interface Served {
  readonly client: Client;
  readonly front: string;
  readonly ledger: Ledger;
  readonly jobs: Jobs;
}

const part = (own: Disturbed, name: string, kind: string, watch: Part['watch']): Part => ({
  ...own,
  name,
  kind: async () => kind,
  watch,
});

/** The id of the request. */
const chat = async (client: Client, address: string): Promise<string> => {
  const [route, model] = ['/chat/completions', 'sluice/chat'];
  const body = { model, messages: [{ role: 'user', content: '/sim tokens=5 rate=max\nHello' }] };
  const { requestId, body: answer } = await client.json<{ usage: ChatUsage }>(route, { address, body });
  await client.bill(requestId, route, model, chatQuantities(answer.usage));
  return requestId;
};

const chats =
  ({ client }: Served, address: string): Look =>
  async () =>
    (await chat(client, address)) !== '';

const follow = async (holds: () => Promise<boolean>, within = followWithin): Promise<boolean> => {
  for (const end = Date.now() + within; Date.now() < end; await delay(100))
    if (await holds().catch(() => false)) return true;
  return false;
};

/** A request is answered, and in the ledger. */
const bills =
  ({ client, front, ledger }: Served): Look =>
  async () => {
    const from = Date.now() - 1_000;
    const id = await chat(client, front);
    const page = { limit: 200, order: 'desc' } as const;
    return follow(async () =>
      (await ledger.list({ from, to: Number.MAX_SAFE_INTEGER }, page)).some(
        (event) => event.request_id === id,
      ),
    );
  };

/** Orders a song, and another one only after a while: what waits for workers must not grow by looks. */
const order = ({ client, front, jobs }: Served): (() => Promise<Created>) => {
  let last: { readonly time: number; readonly job: Promise<Created> } | undefined;
  return async () => {
    if (last === undefined || Date.now() > last.time + orderEvery)
      last = { time: Date.now(), job: jobs.create(client, '/music', 0, front) };
    const { job } = last;
    return job.catch((error: unknown) => {
      if (last?.job === job) last = undefined;
      throw error;
    });
  };
};

/** A song is ordered and made. */
const renders = (served: Served): Look => {
  const ordered = order(served);
  return async () => {
    const job = await ordered();
    return follow(async () => hasEnded(await stateOf(job, served.front)), 5_000);
  };
};

/** The sum of a metric over all of its labels. */
const metric = async (admin: string, name: string): Promise<number> => {
  const text = await (await fetch(`${admin}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
  const samples = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'));
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
};

const responds =
  (url: string): Look =>
  async () =>
    (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;

export const gatewayPart = (own: Disturbed, name: string, url: string, served: Served): Part =>
  part(own, name, 'gateway', async () => ({
    service: chats(served, served.front),
    itself: chats(served, url),
  }));

export const frontPart = (own: Disturbed, served: Served): Part =>
  part(own, 'nginx', 'front', async () => ({
    service: chats(served, served.front),
    itself: responds(`${served.front}/models`),
  }));

/** It has rendered something, or written something to the ledger, since it runs again. */
const worksAgain = async (admin: string, name: string): Promise<Look> => {
  const started = 'process_start_time_seconds';
  const [before, since] = [await metric(admin, name), await metric(admin, started)];
  return async () => {
    const count = await metric(admin, name);
    // A new process counts from 0.
    return (await metric(admin, started)) === since ? count > before : count > 0;
  };
};

export const workerPart = (own: Disturbed, name: string, admin: string, served: Served): Part =>
  part(own, name, 'worker', async () => {
    const rendered = await worksAgain(admin, 'sluice_operations_total');
    const ordered = order(served);
    return {
      service: renders(served),
      // The other worker may take what is ordered: then another one, after a while.
      itself: async () => {
        if (await rendered()) return true;
        await ordered();
        return follow(rendered, 5_000);
      },
    };
  });

export const billingPart = (own: Disturbed, name: string, admin: string, served: Served): Part =>
  part(own, name, 'billing consumer', async () => ({
    service: bills(served),
    itself: await worksAgain(admin, 'sluice_usage_messages_total'),
  }));

export const ledgerPart = (own: Disturbed, url: string, served: Served): Part =>
  part(own, 'ClickHouse', 'ledger', async () => ({
    service: bills(served),
    itself: responds(`${url}/ping`),
  }));

/** A picture is made, and its link leads to it. */
export const storagePart = (own: Disturbed, endpoint: string, { client, front }: Served): Part =>
  part(own, 'S3', 'S3', async () => ({
    service: async () => {
      const [route, model] = ['/images/generations', 'sluice/image'];
      const body = { model, prompt: 'A lock', size: '256x256' };
      const answer = await client.json<{ data: { url: string }[]; usage: { megapixels: number } }>(route, {
        ...{ address: front, body },
      });
      const { megapixels } = answer.body.usage;
      await client.bill(answer.requestId, route, model, { megapixels, inputs: 1 });
      return responds(answer.body.data[0]?.url ?? '')();
    },
    itself: responds(`${endpoint}/minio/health/ready`),
  }));

export const vectorsPart = (own: Disturbed, url: string, search: Look): Part =>
  part(own, 'Qdrant', 'vectors', async () => ({ service: search, itself: responds(url) }));

/** The whole path to the ledger works; it has a copy of everything again. */
export const brokerPart = (own: KafkaNode, settings: KafkaSettings, served: Served): Part =>
  part(own, `broker ${own.id}`, 'Kafka broker', async () => ({
    service: bills(served),
    itself: async () => {
      // As it knows itself: the others may not have missed it yet.
      const found = await partitionsOf({ ...settings, brokers: [own.address] });
      return found.length > 0 && found.every(({ isr }) => isr.includes(own.id));
    },
  }));

/** Its slots can be written; it is a primary or in step with one. */
export const redisPart = (group: RedisGroup, node: RedisNode, number: number): Part => ({
  name: `Redis ${number}`,
  kill: () => group.kill(node),
  revive: () => group.revive(node),
  freeze: () => {
    node.process.kill('SIGSTOP');
  },
  thaw: () => {
    node.process.kill('SIGCONT');
  },
  kind: async () => ((await roleOf(node)).primary ? 'Redis primary' : 'Redis replica'),
  watch: async () => {
    const key = `chaos:${await tagOn(group, await primaryOf(group, node))}`;
    return { service: () => writes(group, key), itself: async () => (await roleOf(node)).inStep };
  },
});

const roleOf = async ({ admin }: RedisNode) => {
  const [role, cluster] = await Promise.all([admin.info('replication'), admin.cluster('INFO')]);
  const primary = role.includes('role:master');
  const sound = String(cluster).includes('cluster_state:ok');
  return {
    primary,
    inStep: sound && (primary ? role.includes('slave0:') : role.includes('master_link_status:up')),
  };
};

/** The port of the primary that a node replicates, or of itself. */
const primaryOf = async (group: RedisGroup, { admin, port }: RedisNode): Promise<number> => {
  const [, found] = /^master_port:(\d+)/m.exec(await admin.info('replication')) ?? [];
  const primary = found === undefined ? port : Number(found);
  if (!group.nodes.some((node) => node.port === primary)) throw new Error(`no node at ${primary}`);
  return primary;
};

const tagOn = async (group: RedisGroup, port: number): Promise<string> => {
  for (const partition of partitions) {
    const tag = partitionTag(partition);
    if ((await group.primaryOf(tag)).port === port) return tag;
  }
  throw new Error(`no partition at ${port}`);
};

/** By a client of its own, which has to find the primary first. */
const writes = async ({ nodes }: RedisGroup, key: string): Promise<boolean> => {
  const hosts = nodes.map(({ port }) => ({ host: '127.0.0.1', port }));
  const redis = new Cluster(hosts, {
    clusterRetryStrategy: () => null,
    redisOptions: { commandTimeout: 1_000, connectTimeout: 1_000 },
  });
  redis.on('error', () => undefined);
  try {
    return (await redis.set(key, '1', 'PX', 60_000)) === 'OK';
  } finally {
    redis.disconnect();
  }
};
