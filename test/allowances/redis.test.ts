/** Tests allowances shared through Redis: the contract, lost processes and clocks, and a Redis that is unavailable. */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { openAllowances } from '../../src/adapters/allowances/open.ts';
import { RedisAllowances, type RedisAllowancesOptions } from '../../src/adapters/allowances/redis.ts';
import { partitionOf, partitionTag } from '../../src/adapters/redis-partitions.ts';
import type { Allowance, Allowances, Claim } from '../../src/ports/allowances.ts';
import { VirtualClock } from '../admission/virtual-clock.ts';
import { usageEvent } from '../billing/usage-events.ts';
import { allowancesContract, held, period, perMinute, reserved } from '../contracts/allowances.ts';
import { allowancesOn, aloneProcess } from '../contracts/redis.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const skip = redisMissing();
const skipOwn = redisMissing({ own: true });
const minute = 60_000;
const newName = () => randomBytes(6).toString('hex');

const claim = (allowance: Allowance, amount: number): Claim => ({ allowance, amount });

/** `reserved`, or the status or the message of the refusal. */
const outcome = async (allowances: Allowances, id: string, ...claims: Claim[]): Promise<string> => {
  try {
    await reserved(allowances, id, claims);
    return 'reserved';
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    return status === undefined ? message : String(status);
  }
};

t.test('contract', { skip: skip ?? false }, async (t) => {
  const service = await startRedis();
  t.teardown(() => service.stop());
  await allowancesContract(t, allowancesOn(service.url), 25);
});

t.test('in virtual time', { skip: skipOwn ?? false }, async (t) => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  t.teardown(async () => {
    admin.disconnect();
    await service.stop();
  });

  /** A process with a clock of its own; the scripts use the clock of the caller. */
  const start = async (t: Test, clock: VirtualClock, options: Partial<RedisAllowancesOptions>) => {
    const allowances = new RedisAllowances(service.url, {
      ...aloneProcess(),
      clock,
      wallClock: () => clock.now(),
      fallback: 'refuse',
      ...options,
    });
    t.teardown(() => allowances.close());
    await clock.advance(0);
    await allowances.check();
    const settle = async () => {
      for (let calls = 0; calls < 6; calls++) await allowances.check();
    };
    return { allowances, settle, pass: (ms: number) => clock.advance(ms, settle) };
  };

  await t.test('a decision takes one call, a settlement another; keys expire', async (t) => {
    const prefix = `${newName()}:`;
    const clock = new VirtualClock();
    const { allowances } = await start(t, clock, { prefix });
    const claims = [
      claim(held('key', 9), 1),
      claim(perMinute('tokens', 900), 1),
      claim(period('today', 900, clock.now() + minute), 1),
    ];
    await reserved(allowances, 'req_0', claims);
    const before = await scripts(admin);
    const reservation = await reserved(allowances, 'req_1', claims);
    reservation.settle([1, 1, 1]);
    await allowances.check();
    t.equal((await scripts(admin)) - before, 2);
    const base = `${prefix}allowances:${partitionTag(partitionOf(''))}:`;
    const left = await admin.pttl(`${base}period:today`);
    t.ok(left > 86_400_000 && left <= 86_400_000 + minute, `a period expires in ${left} ms`);
    for (const part of ['times', 'amounts', 'memo']) {
      const ms = await admin.pttl(`${base}window:tokens:${part}`);
      t.ok(ms > 0 && ms <= minute, `${part} of a window expire in ${ms} ms`);
    }
    t.strictSame(await admin.hvals(`${base}held:key`), ['1']);
  });

  await t.test('server clock set back: nothing expires early or late', async (t) => {
    const clock = new VirtualClock(10_000_000);
    const { allowances } = await start(t, clock, { prefix: `${newName()}:` });
    const tokens = perMinute('tokens', 100);
    t.equal(await outcome(allowances, 'req_1', claim(tokens, 100)), 'reserved');
    clock.step(-3_600_000);
    t.equal(await outcome(allowances, 'req_2', claim(tokens, 1)), 'tokens has 0 of 100 left, 1 were claimed');
    clock.step(minute - 1);
    t.equal(await outcome(allowances, 'req_3', claim(tokens, 1)), 'tokens has 0 of 100 left, 1 were claimed');
    clock.step(1);
    t.equal(await outcome(allowances, 'req_4', claim(tokens, 100)), 'reserved');
  });

  await t.test(
    'a dead process: held is free after its lease, periods stay until its journal is shipped',
    async (t) => {
      const prefix = `${newName()}:`;
      const dying = { ...aloneProcess(), prefix };
      const events: UsageEvent[] = [];
      const ledger = { list: async () => events };
      const clock = new VirtualClock();
      const one = await start(t, new VirtualClock(), dying);
      const other = await start(t, clock, { prefix, ledger, graceMs: 5_000 });
      const [key, tokens, total] = [held('key', 4), perMinute('tokens', 100), period('total', 1000)];
      for (const id of ['req_journal', 'req_ledger', 'req_lost'])
        await reserved(one.allowances, id, [claim(key, 1), claim(tokens, 20), claim(total, 300)]);
      const sums = async () => (await other.allowances.used([key, tokens, total])).map(({ used }) => used);
      t.strictSame(await sums(), [3, 60, 900]);
      // The clock of the first stops here, so that it sends no heartbeat.
      await other.pass(12_000);
      t.strictSame(await sums(), [0, 60, 900], 'its lease is over');
      await other.pass(50_000);
      t.strictSame(await sums(), [0, 0, 900], 'and the window');
      t.strictSame(await other.allowances.abandoned(), [dying.process]);
      events.push(usageEvent({ request_id: 'req_ledger', cost: '0.0000000201' }));
      await other.allowances.died({
        process: dying.process,
        charges: [
          { id: 'req_journal', cost: 100 },
          { id: 'req_before', cost: 5 },
        ],
        cutOff: false,
      });
      t.strictSame(await sums(), [0, 0, 700], 'what its last events say');
      t.strictSame(await other.allowances.abandoned(), []);
      await other.pass(4_000);
      t.strictSame(await sums(), [0, 0, 700]);
      await other.pass(6_000);
      await eventually(
        async () => (await sums())[2] === 121,
        'what the ledger says, and nothing for the third',
      );
      t.strictSame(await admin.keys(`${prefix}*${dying.process}*`), [], 'nothing is left of it');
    },
  );

  await t.test('a process wrongly presumed dead counts again', async (t) => {
    const prefix = `${newName()}:`;
    const clock = new VirtualClock();
    const sleeping = await start(t, clock, { prefix });
    const other = await start(t, new VirtualClock(clock.now() + 20_000), { prefix });
    const key = held('key', 1);
    const slept = await reserved(sleeping.allowances, 'req_1', [claim(key, 1)]);
    (await reserved(other.allowances, 'req_2', [claim(key, 1)])).settle([1]);
    clock.step(20_000);
    await sleeping.pass(3_000);
    t.equal(await outcome(other.allowances, 'req_3', claim(key, 1)), 'key has 0 of 1 left, 1 were claimed');
    slept.settle([1]);
    await sleeping.settle();
    t.equal(await outcome(other.allowances, 'req_4', claim(key, 1)), 'reserved');
  });

  await t.test(
    'claims of several owners, which a cluster may have on several nodes: all or none',
    async (t) => {
      const prefix = `${newName()}:`;
      const clock = new VirtualClock();
      const { allowances, settle } = await start(t, clock, { prefix });
      const own = [perMinute('sub_1/tokens', 100), period('sub_1/budget', 1000)] as const;
      const tag = period('#team/budget', 500);
      const all = [claim(own[0], 10), claim(tag, 200), claim(own[1], 300)];
      const used = async () =>
        (await allowances.used([own[0], tag, own[1]])).map((each) => [each.used, each.reserved]);
      const first = await reserved(allowances, 'req_1', all);
      t.strictSame([first.left(0), first.left(1), first.left(2), first.left(3)], [90, 300, 700, undefined]);
      t.strictSame(await used(), [
        [10, 10],
        [200, 200],
        [300, 300],
      ]);
      t.equal(
        await outcome(allowances, 'req_2', claim(own[0], 10), claim(tag, 400)),
        '#team/budget has 300 of 500 left, 400 were claimed',
      );
      await settle();
      t.strictSame(await used(), [
        [10, 10],
        [200, 200],
        [300, 300],
      ]);
      first.settle([7, 20, 30]);
      await settle();
      t.strictSame(await used(), [
        [7, 0],
        [20, 0],
        [30, 0],
      ]);
      await reserved(allowances, 'req_job', [claim(own[1], 100), claim(tag, 100)], { lasting: true });
      await allowances.settle({ id: 'req_job', cost: 40 }, [own[1].name, tag.name]);
      t.strictSame(await used(), [
        [7, 0],
        [60, 0],
        [70, 0],
      ]);
    },
  );

  await t.test('an id is unique while it is not settled', async (t) => {
    const { allowances, settle } = await start(t, new VirtualClock(), { prefix: `${newName()}:` });
    const total = period('total', 10);
    const first = await reserved(allowances, 'req_1', [claim(total, 1)]);
    await t.rejects(reserved(allowances, 'req_1', [claim(total, 1)]), /has a reservation already/);
    first.settle([1]);
    await settle();
    t.equal(await outcome(allowances, 'req_1', claim(total, 1)), 'reserved');
  });

  await t.test('shares of a period are set aside, and given back when it is nearly used', async (t) => {
    const clock = new VirtualClock();
    const { allowances, pass } = await start(t, clock, { prefix: `${newName()}:`, fallback: 'local' });
    const total = period('total', 1000);
    const used = async () => (await allowances.used([total]))[0];
    (await reserved(allowances, 'req_1', [claim(total, 100)])).settle([100]);
    await pass(3_000);
    t.strictSame(await used(), { used: 120, reserved: 20 }, 'two hundredths');
    (await reserved(allowances, 'req_2', [claim(total, 850)])).settle([850]);
    await pass(6_000);
    t.strictSame(await used(), { used: 950, reserved: 0 });
    t.equal(await outcome(allowances, 'req_3', claim(total, 50)), 'reserved', 'to the last');
  });
});

t.test('a Redis that becomes unavailable', { skip: skipOwn ?? false }, async (t) => {
  /** Two processes in real time, quick to notice. */
  const start = async (t: Test, fallback: 'refuse' | 'local', spent: () => number = () => 0) => {
    const log: { msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
    const service = await startRedis({ own: true, persist: true });
    const marks: boolean[] = [];
    const options = { fallback, patience: 500, ttlMs: 2_000, log: logger, spent: async () => spent() };
    const markCutOff = (isCutOff: boolean) => void marks.push(isCutOff);
    const replicas = [
      new RedisAllowances(service.url, { ...aloneProcess(), ...options, markCutOff }),
      new RedisAllowances(service.url, { ...aloneProcess(), ...options }),
    ] as const;
    t.teardown(async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
      await service.stop();
    });
    for (const replica of replicas) await replica.check();
    const used = async (allowance: Allowance) => (await replicas[0].used([allowance]))[0];
    const eventuallyUsed = async (t: Test, allowance: Allowance, expected: object) => {
      let last: unknown;
      await eventually(
        async () => {
          last = await used(allowance).catch((error: unknown) => error);
          return JSON.stringify(last) === JSON.stringify(expected);
        },
        `${JSON.stringify(expected)}`,
      ).catch(() => undefined);
      t.strictSame(last, expected);
    };
    const recovered = () =>
      eventually(async () => {
        const outcomes = await Promise.all(
          replicas.map((replica) => outcome(replica, newName(), claim(held('probe', 100), 0))),
        );
        const count = log.filter(({ msg }) => msg === 'Redis recovered: allowances are shared again').length;
        return outcomes.every((each) => each === 'reserved') && count >= 2;
      });
    return { service, replicas, log, marks, used, eventuallyUsed, recovered };
  };

  await t.test('refuse: 503, and what was settled meanwhile is counted once it is back', async (t) => {
    const { service, replicas, eventuallyUsed } = await start(t, 'refuse');
    const [one, other] = replicas;
    const total = period('total', 1000);
    const [first, second] = [
      await reserved(one, 'req_1', [claim(total, 400)]),
      await reserved(other, 'req_2', [claim(total, 400)]),
    ];
    service.process?.kill('SIGSTOP');
    t.equal(await outcome(one, 'req_3', claim(total, 1)), '503');
    first.settle([123]);
    t.equal(await outcome(one, 'req_4', claim(total, 1)), '503');
    service.process?.kill('SIGCONT');
    await eventuallyUsed(t, total, { used: 523, reserved: 400 });
    second.settle([1]);
    await eventuallyUsed(t, total, { used: 124, reserved: 0 });
    t.equal(await outcome(one, 'req_5', claim(total, 876)), 'reserved', 'none of those refused is left');
  });

  await t.test('local: each process has its share, and together they never exceed the limit', async (t) => {
    const { service, replicas, marks, eventuallyUsed, recovered } = await start(t, 'local');
    const total = period('total', 10_000);
    const key = held('key', 4);
    for (const [index, replica] of replicas.entries())
      (await reserved(replica, `req_${index}`, [claim(total, 1000)])).settle([500]);
    await eventuallyUsed(t, total, { used: 1200, reserved: 200 });
    service.process?.kill('SIGKILL');
    await eventually(async () => (await outcome(replicas[0], newName(), claim(total, 101))) === '503');
    const kept = await reserved(replicas[0], 'req_kept', [claim(total, 40), claim(key, 1)]);
    (await reserved(replicas[0], 'req_ended', [claim(total, 60)])).settle([25]);
    t.equal(await outcome(replicas[0], 'req_over', claim(total, 36)), '503');
    (await reserved(replicas[1], 'req_other', [claim(total, 100)])).settle([100]);
    t.equal(await outcome(replicas[1], 'req_more', claim(total, 1)), '503');
    t.strictSame(marks, [true]);
    await service.restart();
    await recovered();
    await eventuallyUsed(t, total, { used: 1365, reserved: 240 });
    t.strictSame(marks, [true, false], 'nothing is unknown to Redis any more');
    kept.settle([7, 1]);
    await eventuallyUsed(t, total, { used: 1332, reserved: 200 });
  });

  await t.test('data lost: what processes know and the ledger has is counted again', async (t) => {
    let spent = 0;
    const { service, replicas, eventuallyUsed, recovered } = await start(t, 'refuse', () => spent);
    const [one, other] = replicas;
    const [total, tokens] = [period('total', 10_000), perMinute('tokens', 1000)];
    (await reserved(one, 'req_1', [claim(total, 1000), claim(tokens, 300)])).settle([700, 250]);
    const running = await reserved(other, 'req_2', [claim(total, 1000), claim(tokens, 300)]);
    (await reserved(one, 'req_3', [claim(total, 1000)])).settle([50]);
    await eventuallyUsed(t, total, { used: 1750, reserved: 1000 });
    // The ledger has only the first of them yet.
    spent = 700;
    const admin = new Redis(service.url);
    await admin.flushall();
    admin.disconnect();
    t.match(await outcome(one, 'req_4', claim(total, 9000)), /^503$|9000 were claimed/);
    await recovered();
    await eventuallyUsed(t, total, { used: 1750, reserved: 1000 });
    await eventuallyUsed(t, tokens, { used: 550, reserved: 300 });
    running.settle([300, 300]);
    await eventuallyUsed(t, total, { used: 1050, reserved: 0 });
    t.equal(
      await outcome(other, 'req_5', claim(total, 8951)),
      'total has 8950 of 10000 left, 8951 were claimed',
    );
  });

  await t.test('a process that leaves in time leaves nothing reserved', async (t) => {
    const { replicas, eventuallyUsed } = await start(t, 'local');
    const total = period('total', 10_000);
    (await reserved(replicas[1], 'req_1', [claim(total, 100)])).settle([10]);
    await delay(600);
    await replicas[1].close();
    await eventuallyUsed(t, total, { used: 10, reserved: 0 });
  });
});

t.test('chosen by configuration, checked at start', async (t) => {
  const log = pino({ level: 'silent' });
  const options = { ...aloneProcess(), log };
  const admission = { fallback: 'local' as const };
  const local = await openAllowances({ redis: undefined, admission }, options);
  t.equal(await outcome(local, 'req_1', claim(period('total', 1), 1)), 'reserved');
  await local.close();
  await t.rejects(openAllowances({ redis: 'redis://127.0.0.1:1', admission }, options), {
    message: /^Redis at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*\.$/,
  });
});

const scripts = async (admin: Redis): Promise<number> => {
  const stats = await admin.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
};
