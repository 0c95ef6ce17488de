/** Tests what a failover keeps: a primary is killed under load; acknowledged records, limits and a budget are compared. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { partitionOf, partitionTag } from '../../src/adapters/redis-partitions.ts';
import { redisSettings } from '../../src/adapters/redis-settings.ts';
import { eventually } from '../eventually.ts';
import { redisMissing } from '../services/redis.ts';
import { type RedisGroup, startRedisCluster } from '../services/redis-cluster.ts';
import { startRedisSentinel } from '../services/redis-sentinel.ts';
import { mostWithin, openLoad, recordKinds } from './load.ts';

const skip = redisMissing({ own: true });
const gateways = 3;
const rate = 60;
const windowMs = 4_000;
/** Used up after the failover, on a machine that is not busy. */
const budget = 150_000;
/** A start is seen later than it was decided, by the time that a reply takes: this, and stalls of this process. */
const lateMs = 250;

const failover = async (t: Test, group: RedisGroup) => {
  const redis = redisSettings({ REDIS_URL: group.url, REDIS_WAIT_REPLICAS: '1' });
  if (redis === undefined) throw new Error('no settings');
  const prefix = `${randomBytes(4).toString('hex')}:`;
  const victim = await group.primaryOf(`${prefix}{job}:`);
  const subscription = await subscriptionOn(group, victim.port);
  const load = await openLoad(redis, { prefix, subscription, gateways, rate, windowMs, budget });
  t.teardown(() => load.close());
  await delay(windowMs);
  await eventually(() => load.spent() > 0, 'the budget to be used');

  load.mark();
  t.ok(load.spent() < budget, `${load.spent()} of ${budget} spent before`);
  const killed = performance.now();
  await group.kill(victim);
  await eventually(
    async () => (await group.primaryOf(`${prefix}{job}:`)).port !== victim.port,
    'a new primary',
  );
  const elected = performance.now() - killed;
  await group.revive(victim);
  await eventually(() => load.shared(), 'limits to be shared again');
  const shared = performance.now() - killed;
  await eventually(() => load.again.every((each) => each !== undefined), 'records to be written again');
  // The windows from before and after the failover.
  await delay(2 * windowMs);
  await load.end();
  t.comment(
    `recovery after ms: new primary ${elected.toFixed(0)}, limits shared ${shared.toFixed(0)}, ` +
      `${recordKinds.map((kind, index) => `${kind}s written ${load.again[index]?.toFixed(0)}`).join(', ')}`,
  );

  for (const [index, kind] of recordKinds.entries()) {
    const ids = load.created[index] ?? [];
    const missing: string[] = [];
    for (const id of ids) if ((await load.state.get(kind, id)) === undefined) missing.push(id);
    t.ok(ids.length > 20, `${ids.length} of kind ${kind} were acknowledged`);
    t.strictSame(missing, [], `no ${kind} is lost`);
  }
  const most = mostWithin(load.starts, windowMs - lateMs - load.longestStallMs());
  // One that is too slow, and cut off alone, adds its portion: docs/limits.md.
  const bound = load.outages() > gateways ? 2 * rate : rate;
  t.ok(
    most <= bound,
    `${most} of ${rate} started in any window (${load.outages()} outages of gateways, ${load.longestStallMs().toFixed(0)} ms stalled)`,
  );
  t.ok(load.spent() <= budget, `${load.spent()} of ${budget} spent`);
  await eventually(async () => {
    const found = await load.used();
    return found !== undefined && found.used - found.reserved === load.spent();
  }, 'all that was spent is counted, and no more');
};

/** One whose limits are on that node. */
const subscriptionOn = async (group: RedisGroup, port: number): Promise<string> => {
  for (let number = 0; ; number++) {
    const subscription = `sub_${number}`;
    const { port: at } = await group.primaryOf(partitionTag(partitionOf(subscription)));
    if (at === port) return subscription;
  }
};

t.test('a primary of a cluster', { skip: skip ?? false, timeout: 240_000 }, async (t) => {
  const cluster = await startRedisCluster();
  t.teardown(() => cluster.stop());
  await failover(t, cluster);
});

t.test('the primary that sentinels watch', { skip: skip ?? false, timeout: 240_000 }, async (t) => {
  const group = await startRedisSentinel();
  t.teardown(() => group.stop());
  await failover(t, group);
});
