/** Tests the adapters on a Redis Cluster: their contracts, and that every call keeps to one slot. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { partitionOf, partitions, partitionTag } from '../../src/adapters/redis-partitions.ts';
import { redisSettings } from '../../src/adapters/redis-settings.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { redisContracts } from '../contracts/redis.ts';
import { eventually } from '../eventually.ts';
import { redisMissing } from '../services/redis.ts';
import { startRedisCluster } from '../services/redis-cluster.ts';

t.test('partitions', async (t) => {
  t.equal(new Set(partitions.map(partitionTag)).size, partitions.length);
  for (const each of partitions) t.equal(partitionOf(partitionTag(each).slice(1, -1)), each);
  const counts = partitions.map(() => 0);
  for (let number = 0; number < 32_000; number++) {
    const partition = partitionOf(`sub_${number.toString(36)}`);
    counts[partition] = (counts[partition] ?? 0) + 1;
  }
  t.ok(Math.min(...counts) > 500 && Math.max(...counts) < 1500, `subscriptions spread evenly: ${counts}`);
});

t.test('a cluster', { skip: redisMissing({ own: true }) ?? false, timeout: 300_000 }, async (t) => {
  const cluster = await startRedisCluster();
  t.teardown(() => cluster.stop());
  await redisContracts(t, cluster.url);

  await t.test('primaries have as many partitions each, by the hash of the cluster', async (t) => {
    const [node] = cluster.nodes;
    const slots = await Promise.all(
      partitions.map(async (each) =>
        Number(await node?.admin.cluster('KEYSLOT', `a:${partitionTag(each)}:b`)),
      ),
    );
    t.strictSame(
      slots.map((slot) => Math.floor(slot / (16_384 / partitions.length))),
      partitions,
    );
  });

  await t.test('a change that no replica acknowledges is not acknowledged', async (t) => {
    const redis = redisSettings({ REDIS_URL: cluster.url, REDIS_WAIT_REPLICAS: '1' });
    if (redis === undefined) throw new Error('no settings');
    const prefix = `${randomBytes(4).toString('hex')}:`;
    const state = openRedisState(redis, { prefix });
    t.teardown(() => state.close());
    t.equal(await state.create('job', { id: 'a', owner: 'o', value: 1 }), true);
    const primary = await cluster.primaryOf(`${prefix}{job}:`);
    const [, ports] = /slave0:ip=127.0.0.1,port=(\d+)/.exec(await primary.admin.info('replication')) ?? [];
    const replica = cluster.nodes.find(({ port }) => port === Number(ports));
    replica?.process.kill('SIGSTOP');
    t.teardown(() => replica?.process.kill('SIGCONT'));
    await t.rejects(state.create('job', { id: 'b', owner: 'o', value: 1 }), {
      kind: 'unavailable',
      cause: { message: '0 of 1 replicas (REDIS_WAIT_REPLICAS) acknowledged a change within 1000 ms' },
    });
    t.equal((await state.get('job', 'a'))?.version, 1, 'reads do not wait');
    replica?.process.kill('SIGCONT');
    const create = () => state.create('job', { id: 'c', owner: 'o', value: 1 });
    await eventually(
      () =>
        create().then(
          () => true,
          () => false,
        ),
      'a replica that is back',
    );
    t.equal((await state.get('job', 'c'))?.version, 1);
  });
});
