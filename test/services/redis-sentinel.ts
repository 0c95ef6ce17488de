/** A Redis primary with two replicas and three sentinels for tests, on free loopback ports. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { dataFolder, freePort } from './child.ts';
import { launchSentinel } from './redis.ts';
import {
  asNode,
  kill,
  type RedisGroup,
  type RedisNode,
  revive,
  startNode,
  stopAll,
} from './redis-cluster.ts';

const name = 'main';
/** Milliseconds until a silent primary counts as failed. */
const downAfter = 2_000;

export const startRedisSentinel = async (): Promise<RedisGroup> => {
  const folder = await dataFolder('redis-sentinel');
  const first = await freePort();
  const primary = await startNode(first, folder, []);
  const replica = async () => startNode(await freePort(), folder, ['--replicaof', `127.0.0.1 ${first}`]);
  const nodes = [primary, await replica(), await replica()];
  await eventually(async () => {
    const info = await primary.admin.info('replication');
    return (info.match(/state=online/g) ?? []).length === 2;
  }, 'replicas');
  const sentinels: RedisNode[] = [];
  for (let count = 0; count < 3; count++) {
    const port = await freePort();
    const file = join(folder, `sentinel-${port}.conf`);
    await writeFile(
      file,
      `sentinel monitor ${name} 127.0.0.1 ${first} 2
sentinel down-after-milliseconds ${name} ${downAfter}
sentinel failover-timeout ${name} 10000
sentinel parallel-syncs ${name} 2
`,
    );
    sentinels.push(asNode(port, await launchSentinel(port, folder, file)));
  }
  const [asked] = sentinels;
  if (asked === undefined) throw new Error('no sentinel');
  await eventually(async () => {
    const seen = await Promise.all(
      sentinels.map(async ({ admin }) => String(await admin.call('SENTINEL', 'CKQUORUM', name))),
    ).catch(() => ['not yet']);
    return seen.every((text) => text.includes('OK 3 usable'));
  }, 'sentinels that know each other');
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${name}`,
    nodes,
    primaryOf: async () => {
      const [, port] = (await asked.admin.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)) as string[];
      const node = nodes.find((each) => each.port === Number(port));
      if (node === undefined) throw new Error('sentinels name another server');
      return node;
    },
    kill,
    // Sentinels make a replica of a primary that comes back.
    revive: (node) => revive(node, folder, []),
    stop: async () => {
      await stopAll([...sentinels, ...nodes], folder);
    },
  };
};
