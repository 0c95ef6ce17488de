/** Tests that gateways hold the rate limit together through outages of Redis, in virtual time. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { createRedisAdmission } from '../../src/adapters/admission/redis.ts';
import { eventually } from '../eventually.ts';
import { openNetwork } from '../services/network.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { Client, request } from './client.ts';
import { VirtualClock } from './virtual-clock.ts';

const skip = redisMissing({ own: true });
const minute = 60_000;
/** Real milliseconds; an outage takes as long, and a call that takes longer looks like one. */
const patience = 600;

t.test('the limit holds while Redis is unavailable', { skip: skip ?? false }, async (t) => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  t.teardown(async () => {
    admin.disconnect();
    await service.stop();
  });

  /** Gateways with one clock, each behind a network that can be cut. */
  const open = async (count: number, limit: number, fallback: 'local' | 'refuse' = 'local') => {
    const port = Number(new URL(service.url).port);
    const networks = await Promise.all(Array.from({ length: count }, () => openNetwork(port)));
    const clock = new VirtualClock();
    const options = {
      prefix: `${randomBytes(6).toString('hex')}:`,
      clock,
      patience,
      queueMs: 2_000,
      fallback,
    };
    let unexpected = 0;
    const logOf = (network: { readonly up: boolean }) =>
      pino(
        { level: 'warn' },
        { write: (line: string) => void (network.up && /timed out/.test(line) && unexpected++) },
      );
    const gateways = networks.map((network) =>
      createRedisAdmission(network.url, { ...options, log: logOf(network) }),
    );
    // A beat is two calls after each other, and may be followed by another; all have been answered.
    const settle = async () => {
      for (let calls = 0; calls < 4; calls++) await Promise.allSettled(gateways.map((each) => each.check()));
    };
    const asked = request({ concurrency: 10_000, requests_per_minute: limit });
    const starts: number[] = [];
    const send = async (gateway: number, number: number): Promise<number> => {
      const before = starts.length;
      const admission = gateways[gateway % count];
      if (admission === undefined) throw new Error('no such gateway');
      for (let sent = 0; sent < number; sent++) {
        // Those that wait for processes to settle are decided when time passes.
        const client: Client = new Client(admission, asked, (outcome) => {
          if (outcome.kind !== 'admitted') return;
          starts.push(clock.now());
          queueMicrotask(() => client.release());
        });
      }
      await settle();
      return starts.length - before;
    };
    const pass = (ms: number) => clock.advance(ms, settle);
    const cut = async () => {
      for (const network of networks) network.cut();
      await delay(patience + 20);
      await settle();
    };
    const restore = async (empty: boolean, which: readonly number[] = [...networks.keys()]) => {
      if (empty) await admin.flushall();
      await Promise.all(which.map((gateway) => networks[gateway]?.restore(2)));
      await settle();
    };
    await eventually(async () => {
      const checked = await Promise.allSettled(gateways.map((each) => each.check()));
      return checked.every(({ status }) => status === 'fulfilled');
    }, 'connections');
    await pass(10_000);
    return {
      send,
      pass,
      cut,
      restore,
      allBut: (gateway: number) => [...gateways.keys()].filter((other) => other !== gateway % count),
      starts,
      /** Outages of single gateways that the test did not ask for: the machine was too slow. */
      unexpected: () => unexpected,
      shared: () => gateways.every((each) => each.stats().shared),
      /** Connections take real time to come back, whatever the clock says. */
      reunited: () =>
        eventually(async () => {
          await pass(250);
          return gateways.every((each) => each.stats().shared);
        }, 'Redis to be shared again'),
      replicas: () => gateways.map((each) => each.stats().replicas),
      close: async () => {
        await Promise.all(gateways.map((each) => each.close()));
        await Promise.all(networks.map((network) => network.close()));
      },
    };
  };
  const opened = async (t: Test, ...options: Parameters<typeof open>) => {
    const group = await open(...options);
    t.teardown(() => group.close());
    return group;
  };

  await t.test('uneven load before: nobody starts what others have started already', async (t) => {
    const group = await opened(t, 3, 120);
    t.strictSame(group.replicas(), [3, 3, 3]);
    t.equal(await group.send(0, 130), 120);
    await group.cut();
    for (const gateway of [0, 1, 2]) t.equal(await group.send(gateway, 50), 0);
    await group.pass(minute - 1);
    for (const gateway of [1, 2, 0]) t.equal(await group.send(gateway, 50), 0);
    await group.pass(1);
    t.equal(await group.send(0, 50), 40, 'an even portion, once its own have expired');
    t.equal(await group.send(1, 50), 0, 'not before the first cannot have more than that');
    await group.pass(minute + 20_000);
    for (const gateway of [0, 1, 2]) t.equal(await group.send(gateway, 150), 40, 'even portions');
    await group.restore(true);
    await group.pass(20_000);
    await group.reunited();
    t.ok(group.shared());
    for (const gateway of [0, 1, 2])
      t.equal(await group.send(gateway, 50), 0, 'a Redis without data gets a report');
    await group.pass(minute);
    t.equal(await group.send(2, 150), 120, 'and then one may have all');
    t.ok(held(group.starts, 120));
  });

  await t.test('quiet before: each has its portion of what cannot have been used', async (t) => {
    const group = await opened(t, 3, 120);
    await group.send(0, 30);
    await group.cut();
    const started = [await group.send(0, 99), await group.send(1, 99), await group.send(2, 99)];
    t.strictSame([...started].sort(), [20, 20, 21], 'half less one may have been used');
    t.ok(held(group.starts, 120));
  });

  await t.test('Redis is back, and one gateway has yet to report', async (t) => {
    const group = await opened(t, 3, 60);
    for (const gateway of [0, 1, 2]) t.equal(await group.send(gateway, 20), 20);
    await group.cut();
    await group.restore(true, [0, 1]);
    // Redis publishes what it knows of by now: two thirds.
    await group.pass(2_000);
    for (const gateway of [0, 1, 2]) t.equal(await group.send(gateway, 50), 0);
    await group.restore(false, [2]);
    await group.pass(20_000);
    await group.reunited();
    for (const gateway of [0, 1, 2]) t.equal(await group.send(gateway, 50), 0);
    await group.pass(minute);
    t.equal(await group.send(2, 150), 60);
    t.ok(held(group.starts, 60));
  });

  await t.test('a limit below the number of gateways is one limit', async (t) => {
    const group = await opened(t, 3, 1);
    await group.cut();
    let started = 0;
    for (const gateway of [0, 1, 2]) started += await group.send(gateway, 3);
    t.equal(started, 1);
  });

  await t.test('a lost Redis without data does not forget with fallback refuse either', async (t) => {
    const group = await opened(t, 2, 10, 'refuse');
    t.equal(await group.send(0, 6), 6);
    await group.cut();
    t.equal(await group.send(1, 6), 0);
    await group.restore(true);
    await group.pass(20_000);
    await group.reunited();
    t.equal(await group.send(1, 20), 4);
  });

  await t.test('random loads, outages and recoveries', { timeout: 280_000 }, async (t) => {
    const send = fc.record({ gateway: fc.nat(3), number: fc.integer({ min: 1, max: 30 }) });
    /** One gateway may have Redis again later than the others. */
    const toggle = fc.record({
      toggle: fc.boolean(),
      late: fc.option(fc.nat(3), { nil: undefined }),
      meanwhile: fc.array(send, { maxLength: 3 }),
    });
    const step = fc.oneof(
      { weight: 6, arbitrary: send },
      {
        weight: 5,
        arbitrary: fc.record({ pass: fc.constantFrom(0, 40, 200, 450, 3_000, 20_000, 59_999, 60_000) }),
      },
      { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: 60_001, max: 150_000 }) }) },
      { weight: 3, arbitrary: toggle },
    );
    const atOnce = { toggle: false, late: undefined, meanwhile: [] };
    const until = performance.now() + 120_000;
    let started = 0;
    let outages = 0;
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom(1, 2, 3, 7, 24, 40),
        fc.array(step, { minLength: 10, maxLength: 24 }),
        async (count, limit, steps) => {
          // Rather than `interruptAfterTimeLimit`, which leaves a run behind that never ends.
          if (performance.now() > until) return true;
          const group = await open(count, limit);
          let up = true;
          try {
            for (const each of steps)
              if ('gateway' in each) await group.send(each.gateway, each.number);
              else if ('pass' in each) await group.pass(each.pass);
              else if (up) {
                await group.cut();
                up = false;
                outages++;
              } else {
                const { late } = each;
                if (late === undefined) await group.restore(each.toggle);
                else {
                  await group.restore(each.toggle, group.allBut(late));
                  await group.pass(1_000);
                  for (const { gateway, number } of each.meanwhile) await group.send(gateway, number);
                  await group.restore(false, [late % count]);
                }
                up = true;
              }
            if (!up) await group.restore(true);
            await group.pass(20_000);
            await group.reunited();
            await group.send(0, limit);
            started += group.starts.length;
            if (group.unexpected() === 0) compared++;
            else return true;
            return held(group.starts, limit) && group.shared();
          } finally {
            await group.close();
          }
        },
      ),
      {
        // An outage that one gateway uses and another, idle one would not notice.
        examples: [
          [
            2,
            3,
            [
              atOnce,
              { gateway: 1, number: 10 },
              atOnce,
              { gateway: 0, number: 21 },
              { pass: 3_000 },
              { gateway: 1, number: 30 },
            ],
          ],
        ],
        numRuns: 12,
        endOnFailure: true,
      },
    );
    t.ok(
      started > 0 && outages > 0 && compared > 3,
      `${compared} runs: ${started} starts, ${outages} outages`,
    );
  });
});

/** In any window no more than the limit; a start counts for exactly a minute. */
const held = (starts: readonly number[], limit: number): boolean => {
  const times = [...starts].sort((one, other) => one - other);
  return times.every((time, index) => {
    const next = times[index + limit];
    return next === undefined || next - time >= minute;
  });
};
