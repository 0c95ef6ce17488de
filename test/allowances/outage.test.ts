/** Tests that processes together keep windows and budgets through outages of Redis, in virtual time. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import t from 'tap';
import { RedisAllowances } from '../../src/adapters/allowances/redis.ts';
import { VirtualClock } from '../admission/virtual-clock.ts';
import { period, perMinute, reserved } from '../contracts/allowances.ts';
import { eventually } from '../eventually.ts';
import { openNetwork } from '../services/network.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const skip = redisMissing({ own: true });
const minute = 60_000;
/** Real milliseconds; an outage takes as long, and a call that takes longer looks like one. */
const patience = 600;

t.test('windows and budgets hold while Redis is unavailable', { skip: skip ?? false }, async (t) => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  t.teardown(async () => {
    admin.disconnect();
    await service.stop();
  });

  /** Processes with one clock, each behind a network that can be cut; what is settled is billed at once. */
  const open = async (count: number, limit: number, budget?: number) => {
    const port = Number(new URL(service.url).port);
    const networks = await Promise.all(Array.from({ length: count }, () => openNetwork(port)));
    const clock = new VirtualClock();
    let billed = 0;
    let recoveries = 0;
    let outages = 0;
    /** Outages of single processes that the test did not ask for: the machine was too slow. */
    let unexpected = 0;
    const logOf = (network: { readonly up: boolean }) =>
      pino(
        { level: 'info' },
        {
          write: (line: string) => {
            if (/Redis recovered/.test(line)) recoveries++;
            if (/Redis unavailable/.test(line)) outages++;
            if (network.up && /timed out/.test(line)) unexpected++;
          },
        },
      );
    const prefix = `${randomBytes(6).toString('hex')}:`;
    const processes = networks.map(
      (network, index) =>
        new RedisAllowances(network.url, {
          process: `process${index}`,
          spent: async () => billed,
          ledger: { list: async () => [] },
          markCutOff: () => undefined,
          wallClock: () => clock.now(),
          prefix,
          clock,
          patience,
          log: logOf(network),
        }),
    );
    const settle = async () => {
      for (let calls = 0; calls < 6; calls++) await Promise.allSettled(processes.map((each) => each.check()));
    };
    const pass = (ms: number) => clock.advance(ms, settle);
    const tokens = perMinute('tokens', limit);
    const total = period('total', budget ?? 0);
    const grants: { readonly at: number; readonly tokens: number }[] = [];
    let next = 0;
    let pending = 0;
    /** So many requests to one process; a request may use less than it reserved. */
    const send = async (process: number, amount: number, number: number): Promise<number> => {
      const before = grants.length;
      const allowances = processes[process % count] as RedisAllowances;
      for (let sent = 0; sent < number; sent++) {
        const claims = (budget === undefined ? [tokens] : [tokens, total]).map((allowance) => ({
          allowance,
          amount,
        }));
        const used = amount > 10 ? 7 : amount;
        pending++;
        reserved(allowances, `req_${next++}`, claims)
          .then(
            (reservation) => {
              grants.push({ at: clock.now(), tokens: used });
              billed += used;
              reservation.settle([used, used]);
            },
            () => undefined,
          )
          .finally(() => pending--);
      }
      // Those that wait for processes to settle are decided when time passes.
      for (let rounds = 0; rounds < 10 && pending > 0; rounds++) await settle();
      return grants.slice(before).reduce((sum, grant) => sum + grant.tokens, 0);
    };
    // The first heartbeats, which checks wait for.
    await clock.advance(0);
    await eventually(async () => {
      const checked = await Promise.allSettled(processes.map((each) => each.check()));
      return checked.every(({ status }) => status === 'fulfilled');
    }, 'connections');
    await pass(10_000);
    return {
      send,
      pass,
      cut: async () => {
        for (const network of networks) network.cut();
        await delay(patience + 20);
        await settle();
      },
      restore: async (empty: boolean, which: readonly number[] = [...networks.keys()]) => {
        if (empty) await admin.flushall();
        await Promise.all(which.map((process) => networks[process]?.restore(2)));
        await settle();
      },
      reunited: () =>
        eventually(async () => {
          await pass(250);
          return outages === recoveries;
        }, 'Redis to be shared again'),
      counted: async () => (await processes[0]?.used([total]))?.[0],
      billed: () => billed,
      unexpected: () => unexpected,
      /** In any window no more than the limit was used. */
      held: () =>
        grants.every(({ at }) => {
          const within = grants.filter((other) => other.at >= at && other.at < at + minute);
          return within.reduce((sum, other) => sum + other.tokens, 0) <= limit;
        }),
      close: async () => {
        await Promise.all(processes.map((each) => each.close()));
        await Promise.all(networks.map((network) => network.close()));
      },
    };
  };

  await t.test('uneven load before: nobody uses what others have used already', async (t) => {
    const group = await open(3, 120);
    t.teardown(() => group.close());
    t.equal(await group.send(0, 1, 130), 120);
    await group.cut();
    for (const process of [0, 1, 2]) t.equal(await group.send(process, 1, 50), 0);
    await group.pass(minute - 1);
    for (const process of [1, 2, 0]) t.equal(await group.send(process, 1, 50), 0);
    await group.pass(1);
    t.equal(await group.send(0, 1, 50), 40, 'an even portion, once its own have expired');
    t.equal(await group.send(1, 1, 50), 0, 'not before the first cannot have more than that');
    await group.pass(minute + 20_000);
    for (const process of [0, 1, 2]) t.equal(await group.send(process, 1, 150), 40, 'even portions');
    await group.restore(true);
    await group.pass(20_000);
    await group.reunited();
    for (const process of [0, 1, 2])
      t.equal(await group.send(process, 1, 50), 0, 'a Redis without data gets a report');
    await group.pass(minute);
    t.equal(await group.send(2, 1, 150), 120, 'and then one may have all');
    t.ok(group.held());
  });

  await t.test('Redis is back, and one process has yet to report', async (t) => {
    const group = await open(3, 60);
    t.teardown(() => group.close());
    for (const process of [0, 1, 2]) t.equal(await group.send(process, 1, 20), 20);
    await group.cut();
    await group.restore(true, [0, 1]);
    await group.pass(2_000);
    for (const process of [0, 1, 2]) t.equal(await group.send(process, 1, 50), 0);
    await group.restore(false, [2]);
    await group.pass(20_000);
    await group.reunited();
    for (const process of [0, 1, 2]) t.equal(await group.send(process, 1, 50), 0);
    t.ok(group.held());
  });

  await t.test('a process that nearly used a budget leaves no more than shares for an outage', async (t) => {
    const group = await open(2, 1e6, 1000);
    t.teardown(() => group.close());
    t.equal(await group.send(0, 10, 40), 400);
    t.equal(await group.send(1, 10, 1), 10);
    await group.pass(6_000);
    await group.cut();
    for (const process of [0, 1]) t.equal(await group.send(process, 1, 30), 10, 'a hundredth each');
    await group.restore(true);
    await group.pass(20_000);
    await group.reunited();
    t.equal(await group.send(1, 10, 100), 570, 'all but what is used');
    t.equal(group.billed(), 1000);
  });

  await t.test('random loads, outages and recoveries', { timeout: 280_000 }, async (t) => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          process: fc.nat(3),
          amount: fc.integer({ min: 1, max: 12 }),
          number: fc.integer({ min: 1, max: 40 }),
        }),
      },
      {
        weight: 5,
        arbitrary: fc.record({ pass: fc.constantFrom(0, 40, 450, 3_000, 20_000, 59_999, 60_000) }),
      },
      { weight: 3, arbitrary: fc.record({ toggle: fc.boolean() }) },
    );
    const until = performance.now() + 200_000;
    let outages = 0;
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom(20, 60, 120),
        fc.constantFrom(300, 2000),
        fc.array(step, { minLength: 10, maxLength: 20 }),
        async (count, limit, budget, steps) => {
          // Rather than `interruptAfterTimeLimit`, which leaves a run behind that never ends.
          if (performance.now() > until) return true;
          const group = await open(count, limit, budget);
          let up = true;
          try {
            for (const each of steps)
              if ('process' in each) await group.send(each.process, each.amount, each.number);
              else if ('pass' in each) await group.pass(each.pass);
              else if (up) {
                await group.cut();
                up = false;
                outages++;
              } else {
                await group.restore(each.toggle);
                up = true;
              }
            if (!up) await group.restore(true);
            await group.pass(20_000);
            await group.reunited();
            await group.send(0, 1, 1);
            // Shares that are not used any more are given back.
            await group.pass(2 * minute);
            if (group.unexpected() > 0) return true;
            compared++;
            const { used, reserved: open } = (await group.counted()) ?? { used: -1, reserved: -1 };
            return group.held() && group.billed() <= budget && used === group.billed() && open === 0;
          } finally {
            await group.close();
          }
        },
      ),
      { numRuns: 4, endOnFailure: true },
    );
    t.ok(outages > 0 && compared > 0, `${compared} runs, ${outages} outages`);
  });
});
