/** Tests budgets and limits of keys that two gateways share through Redis. */
import t from 'tap';
import { budgetsStatus } from '../../src/budgets/status.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { startBudgetGateway } from './client.ts';

const skip = redisMissing({ own: true });

t.test('two gateways', { skip: skip ?? false }, async (t) => {
  const redis = await startRedis({ own: true });
  t.teardown(() => redis.stop());
  const env = { REDIS_URL: redis.url };
  const one = await startBudgetGateway({ env });
  const other = await startBudgetGateway({ env });
  t.teardown(() => Promise.all([one.gateway.stop(), other.gateway.stop()]));
  const amount = '0.0012';
  const key = await one.limited({ amount, period: 'day' });
  const singer = await one.limited({ amount: '0.05', period: 'total' });
  const slow = await one.newKey({ limits: { requests_per_minute: 5 } });
  await Promise.all([one.known(), other.known()]);

  t.test('a budget', async (t) => {
    const calls = Array.from({ length: 60 }, (_, call) => (call % 2 === 0 ? one : other).chat(key.secret));
    const replies = await Promise.all(calls);
    t.ok(replies.some(({ status }) => status === 200));
    t.ok(replies.some(({ status }) => status === 429));
    t.ok(replies.every(({ status }) => status === 200 || status === 429));
    const [{ value: budget }] = [await one.budgets.get(key.budget)];
    const status = await eventually(async () => {
      const [seen] = await budgetsStatus(other.gateway.allowances, [budget]);
      return seen?.reserved === '0' && seen;
    }, 'all is settled');
    const spent = replies.reduce((sum, { body }) => sum + costOf(body), 0);
    t.equal(nanodollars(status.used), spent, 'what both have spent');
    t.ok(spent <= nanodollars(amount));
  });

  t.test('requests of a key', async (t) => {
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, call) => (call % 2 === 0 ? one : other).chat(slow.secret)),
    );
    t.equal(replies.filter(({ status }) => status === 200).length, 5);
  });

  t.test('a job that the other gateway cancels', async (t) => {
    const song = (at: typeof one) =>
      at.post(singer.secret, '/music', { model: 'sluice/music', prompt: '/sim render=60s', duration: 10 });
    const [first, second] = [await song(one), await song(other)];
    t.strictSame([first.status, second.status], [202, 202]);
    t.equal((await song(other)).status, 429);
    const { id } = first.body as { id: string };
    await fetch(`${other.gateway.url}/music/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${singer.secret}` },
    });
    await eventually(async () => (await song(one)).status === 202, 'what it reserved is free again');
  });
});

/** By the prices of the model: nothing is cached. */
const costOf = (body: unknown): number => {
  const { usage } = body as { usage?: { prompt_tokens: number; completion_tokens: number } };
  return usage === undefined ? 0 : usage.prompt_tokens * 300 + usage.completion_tokens * 1200;
};
