/** Tests the simulated fleet: nothing is lost, no limit is exceeded, and a seed decides everything. */
import t from 'tap';
import { simulate } from '../../bench/simulate/fleet.ts';
import { type Plan, scaledDown, usualPlan } from '../../bench/simulate/plan.ts';
import type { Subscription } from '../../bench/simulate/population.ts';

/** 400 requests per second for ninety seconds, with both failures. */
const small: Plan = {
  ...scaledDown(usualPlan, 250),
  processes: 8,
  gateways: 4,
  groups: 2,
  replicaSlots: 64,
  primaries: 4,
  kafkaPartitions: 6,
  consumers: 2,
  seconds: 90,
  gatewayDies: 66,
  failover: { at: 74, seconds: 5 },
};

const refused = ['refusedByRate', 'refusedByQueue', 'refusedByOutage', 'refusedByEngines'] as const;

t.test('every request that arrived has completed, was refused, broke off or is still inside', async (t) => {
  const { counts, inside, seconds } = simulate(small);
  const ended = counts.completed + counts.broken + refused.reduce((sum, name) => sum + counts[name], 0);
  t.equal(counts.arrived, ended + inside);
  t.ok(
    counts.broken > 0 && counts.refusedByRate > 0 && counts.refusedByQueue > 0 && counts.refusedByOutage > 0,
  );
  const { streaming, queued, slotless } = seconds.at(-1) ?? { streaming: 0, queued: 0, slotless: 0 };
  const onTheWay = inside - streaming - queued - slotless;
  t.ok(onTheWay >= 0 && onTheWay < 20, `${onTheWay} are between two queues`);
  t.equal(
    seconds.reduce((sum, second) => sum + second.arrived, 0),
    counts.arrived,
    'the lines of all seconds add up',
  );
});

t.test('no more than its limit starts in any minute, also while Redis fails over', async (t) => {
  const starts = new Map<Subscription, number[]>();
  simulate(small, {
    started: (subscription, at) => {
      const known = starts.get(subscription);
      if (known === undefined) starts.set(subscription, [at]);
      else known.push(at);
    },
  });
  let full = 0;
  for (const [{ name, limits }, times] of starts) {
    const limit = limits.requests_per_minute;
    times.sort((one, other) => one - other);
    const tooSoon = times.findIndex(
      (time, index) => (times[index + limit] ?? Number.POSITIVE_INFINITY) < time + 60_000,
    );
    if (tooSoon !== -1) t.fail(`${name} started more than ${limit} from ${times[tooSoon]}`);
    if (times.length >= limit) full++;
  }
  t.ok(full > 0, 'some windows were full');
});

t.test('running requests stay within the concurrency while Redis decides', async (t) => {
  const { seconds, subscriptions } = simulate({
    ...small,
    failover: undefined,
    gatewayDies: undefined,
    seconds: 30,
  });
  const most = subscriptions.reduce((sum, { limits }) => sum + limits.concurrency, 0);
  for (const { second, streaming, slotless } of seconds)
    t.ok(streaming + slotless <= most, `second ${second}`);
});

t.test('a seed decides everything', async (t) => {
  const short = { ...small, seconds: 12, gatewayDies: 5, failover: { at: 8, seconds: 2 } };
  t.same(simulate(short), simulate(short));
  t.not(simulate(short).counts.arrived, simulate({ ...short, seed: 2 }).counts.arrived);
});

t.test('one failure costs what it should: nothing is refused for an outage without one', async (t) => {
  const { counts } = simulate({ ...small, seconds: 20, gatewayDies: undefined, failover: undefined });
  t.equal(counts.refusedByOutage + counts.broken, 0);
});

t.test('a plan that cannot be is refused, by name', async (t) => {
  const broken = (change: Partial<Plan>) => () => simulate({ ...small, ...change });
  t.throws(broken({ gateways: 3 }), /gateways must be a multiple of groups/);
  t.throws(broken({ primaries: 33 }), /primaries must be at most 32/);
  t.throws(broken({ subscriptions: 0 }), /subscriptions must be a whole number from 1/);
  t.throws(broken({ replicaSlots: 8 }), /a group must have at most 8 processes/);
});
