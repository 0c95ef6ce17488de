/** Tests the adapters on the primary that sentinels name: their contracts. */
import t from 'tap';
import { redisContracts } from '../contracts/redis.ts';
import { redisMissing } from '../services/redis.ts';
import { startRedisSentinel } from '../services/redis-sentinel.ts';

t.test('contracts', { skip: redisMissing({ own: true }) ?? false, timeout: 300_000 }, async (t) => {
  const group = await startRedisSentinel();
  t.teardown(() => group.stop());
  await redisContracts(t, group.url);
});
