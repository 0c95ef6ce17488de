/** Tests admission shared through Redis: the contract, and lost processes, messages, scripts, clocks and servers. */
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openAdmission } from '../../src/adapters/admission/open.ts';
import { createRedisAdmission, type RedisAdmissionOptions } from '../../src/adapters/admission/redis.ts';
import { partitionOf, partitionTag } from '../../src/adapters/redis-partitions.ts';
import { loadConfig } from '../../src/config.ts';
import type { Admission, AdmissionRequest } from '../../src/ports/admission.ts';
import { admissionContract } from '../contracts/admission.ts';
import { admissionOn } from '../contracts/redis.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { Client, type Outcome, request } from './client.ts';
import { VirtualClock } from './virtual-clock.ts';

const skip = redisMissing();
const skipOwn = redisMissing({ own: true });
const minute = 60_000;
const newPrefix = () => `sluice-test-${randomBytes(6).toString('hex')}:`;

t.test('contract', { skip: skip ?? false }, async (t) => {
  const service = await startRedis();
  t.teardown(() => service.stop());
  await admissionContract(t, admissionOn(service.url), 25);
});

t.test('in virtual time', { skip: skipOwn ?? false }, async (t) => {
  const service = await startRedis({ own: true });
  const admin = new Redis(service.url);
  t.teardown(async () => {
    admin.disconnect();
    await service.stop();
  });

  /** A process with a clock of its own; the scripts use the clock of the caller. */
  const process = async (t: Test, options: RedisAdmissionOptions & { readonly clock: VirtualClock }) => {
    const admission = createRedisAdmission(service.url, options);
    t.teardown(() => admission.close());
    await admission.check();
    // A beat is two calls after each other; both have been answered.
    const settle = async () => {
      for (let calls = 0; calls < 4; calls++) await admission.check();
    };
    const send = async (asked = request()): Promise<Client> => {
      const client = new Client(admission, asked);
      await settle();
      return client;
    };
    return { admission, settle, send, pass: (ms: number) => options.clock.advance(ms, settle) };
  };

  await t.test('state in Redis is bounded and expires', async (t) => {
    const prefix = newPrefix();
    const { send, admission } = await process(t, { prefix, clock: new VirtualClock() });
    const asked = request({ concurrency: 2, requests_per_minute: 5 });
    for (let count = 0; count < 8; count++) {
      const client = await send(asked);
      client.lease?.release();
    }
    const waiting = [await send(request({}, 'sub_2')), await send(request({}, 'sub_2'))];
    const base = (name: string) => `${prefix}admission:${partitionTag(partitionOf(name))}:`;
    const gate = (name: string, part: string) => `${base(name)}gate:5:${name}:acme/one:${part}`;
    t.equal(await admin.llen(gate('sub_1', 'starts')), 5, 'no more than may count');
    const keys = (await admin.keys(`${prefix}*`)).sort();
    t.strictSame(
      keys,
      [
        gate('sub_1', 'memo'),
        gate('sub_1', 'starts'),
        `${base('sub_1')}usage`,
        gate('sub_2', 'alive'),
        gate('sub_2', 'memo'),
        gate('sub_2', 'queue'),
        gate('sub_2', 'starts'),
      ].sort(),
    );
    for (const key of keys) {
      const left = await admin.pttl(key);
      const longest = key.endsWith(':usage') ? 1.25 * minute : minute;
      t.ok(left > 0 && left <= longest, `${key} expires in ${left} ms`);
    }
    await admission.close();
    t.strictSame(
      await admin.keys(`${prefix}*:5:sub_2:*`).then((all) => all.sort()),
      [gate('sub_2', 'memo'), gate('sub_2', 'starts')],
      'a process that ends gives everything back',
    );
    t.match(await waiting[1]?.settled(), { status: 503 });
  });

  await t.test('one decision takes one Redis call', async (t) => {
    const { send } = await process(t, { prefix: newPrefix(), clock: new VirtualClock() });
    await send();
    const before = await calls(admin);
    await send();
    await send(request({}, 'sub_2'));
    const after = await calls(admin);
    t.equal(after.evalsha - before.evalsha, 2);
    t.equal(after.eval - before.eval, 0);
  });

  await t.test(
    'requests of one turn are decided in their order, those of one gate in one call',
    async (t) => {
      const { send, settle, admission } = await process(t, {
        prefix: newPrefix(),
        clock: new VirtualClock(),
      });
      await send(request({}, 'sub_9'));
      const before = await calls(admin);
      const asked = request({ concurrency: 2 });
      const clients = [asked, asked, request({}, 'sub_2'), asked, asked].map(
        (each) => new Client(admission, each),
      );
      await settle();
      const kinds = () => clients.map(({ outcome }) => outcome?.kind);
      t.strictSame(kinds(), ['admitted', 'admitted', 'admitted', undefined, undefined]);
      t.equal((await calls(admin)).evalsha - before.evalsha, 2);
      clients[0]?.release();
      t.match(await clients[3]?.settled(), { kind: 'admitted', position: 1 });
      t.equal(clients[4]?.outcome, undefined);
      clients[1]?.release();
      t.match(await clients[4]?.settled(), { kind: 'admitted', position: 2 });
    },
  );

  await t.test('flushed scripts are loaded again', async (t) => {
    const { send, settle } = await process(t, { prefix: newPrefix(), clock: new VirtualClock() });
    const first = await send();
    const second = await send();
    await admin.script('FLUSH');
    first.release();
    t.equal(await second.result(), 'admitted');
    await admin.script('FLUSH');
    const third = new Client(
      (await process(t, { prefix: newPrefix(), clock: new VirtualClock() })).admission,
      request(),
    );
    t.equal(await third.result(), 'admitted');
    second.release();
    await settle();
  });

  await t.test('a missed message delays a waiter, which keeps its place in the queue', async (t) => {
    const clock = new VirtualClock();
    const { send, pass, settle } = await process(t, { prefix: newPrefix(), clock });
    const first = await send();
    const second = await send();
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    first.release();
    await settle();
    await pass(3000);
    t.match(await second.settled(), { kind: 'admitted', position: 1 });
  });

  await t.test('slots and queue places of a dead process expire', async (t) => {
    const prefix = newPrefix();
    const dying = await process(t, { prefix, clock: new VirtualClock(), ttlMs: 12_000 });
    const clock = new VirtualClock();
    const living = await process(t, { prefix, clock, ttlMs: 12_000 });
    const asked = request({ concurrency: 2 });
    await dying.send(asked);
    const kept = await living.send(asked);
    const dead = await dying.send(asked);
    const waiting = await living.send(asked);
    // The clock of the first stops here, so it renews nothing.
    await living.pass(8000);
    t.equal(waiting.outcome, undefined, 'not before its time');
    await living.pass(4000);
    t.match(await waiting.settled(), { kind: 'admitted', position: 2 });
    t.equal(dead.outcome, undefined, 'the dead one that stood before it was passed over');
    t.match(await living.send(asked), { outcome: undefined });
    t.equal(kept.lease?.waited, 0);
  });

  await t.test('a process wrongly presumed dead is counted again, and the cap holds', async (t) => {
    const prefix = newPrefix();
    const clock = new VirtualClock();
    const sleeping = await process(t, { prefix, clock, ttlMs: 12_000 });
    const other = await process(t, { prefix, clock: new VirtualClock(1_020_000), ttlMs: 12_000 });
    const slept = await sleeping.send();
    const early = await other.send();
    t.equal(await early.result(), 'admitted', 'its slot was taken for free');
    clock.step(20_000);
    await sleeping.pass(3000);
    early.release();
    const next = await other.send();
    t.equal(next.outcome, undefined, 'but it runs, and counts');
    slept.release();
    await sleeping.settle();
    t.equal(await next.result(), 'admitted');
  });

  await t.test('server clock set back: nothing expires early or late', async (t) => {
    const clock = new SkewedClock(10_000_000);
    const { send, pass } = await process(t, { prefix: newPrefix(), clock });
    const asked = request({ concurrency: 5, requests_per_minute: 2 });
    const [first] = [await send(asked), await send(asked)];
    clock.skew = -3_600_000;
    t.equal(await (await send(asked)).result(), '429 60');
    await pass(minute - 1);
    t.equal(await (await send(asked)).result(), '429 1');
    await pass(1);
    t.equal(await (await send(asked)).result(), 'admitted');
    first?.release();
  });

  await t.test('server clock set forward: running requests still count', async (t) => {
    const clock = new SkewedClock();
    const { send, pass } = await process(t, { prefix: newPrefix(), clock });
    const first = await send();
    const second = await send();
    clock.skew = 3_600_000;
    await pass(3000);
    t.equal(second.outcome, undefined);
    first.release();
    t.equal(await second.result(), 'admitted');
  });

  await t.test('replicas with different limits apply those of the latest request', async (t) => {
    const prefix = newPrefix();
    const clock = new VirtualClock();
    const small = await process(t, { prefix, clock });
    const large = await process(t, { prefix, clock });
    const few = request({ concurrency: 1, requests_per_minute: 10 });
    const many = request({ concurrency: 3, requests_per_minute: 10 });
    const running = [await large.send(many), await large.send(many)];
    const waits = await small.send(few);
    t.equal(waits.outcome, undefined, 'two run, and it was told one');
    const third = await large.send(many);
    t.equal(await waits.result(), 'admitted', 'the latest said three');
    t.equal(third.outcome, undefined, 'never more than the larger number');
    await small.send(few);
    running[0]?.release();
    await large.settle();
    t.equal(third.outcome, undefined, 'the latest said one');
    t.equal(
      await admin.zcard(
        `${prefix}admission:${partitionTag(partitionOf('sub_1'))}:gate:5:sub_1:acme/one:queue`,
      ),
      2,
    );
  });
});

t.test('a Redis that becomes unavailable', { skip: skipOwn ?? false }, async (t) => {
  /** Two processes in real time, quick to notice and to renew. */
  const start = async (t: Test, fallback: 'refuse' | 'local', patience = 300) => {
    const log: { level: number; msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) });
    const service = await startRedis({ own: true, persist: true });
    const options = { fallback, patience, ttlMs: 2000, queueMs: 20_000 };
    const replicas = [
      createRedisAdmission(service.url, { ...options, log: logger }),
      createRedisAdmission(service.url, options),
    ] as const;
    t.teardown(async () => {
      await Promise.all(replicas.map((replica) => replica.close()));
      await service.stop();
    });
    for (const replica of replicas) await replica.check();
    await eventually(async () =>
      replicas.every((replica) => replica.stats().replicas === 2 && replica.stats().established),
    );
    return { service, replicas, log };
  };

  /** A server that was started again is not believed until all processes have reported: meanwhile 503. */
  const decided = (replica: Admission, asked: AdmissionRequest): Promise<Outcome> =>
    eventually(async () => {
      const outcome = await new Client(replica, asked).settled();
      return outcome.kind === 'refused' && outcome.status === 503 ? undefined : outcome;
    });

  await t.test('slots, queue places and the window survive a restart', async (t) => {
    for (const fallback of ['refuse', 'local'] as const) {
      // Its disk may be slow: a call that nobody waits for any more would count as a start all the same.
      const { service, replicas } = await start(t, fallback, 5000);
      const asked = request({ concurrency: 2, requests_per_minute: 4 });
      const runners = replicas.map((replica) => new Client(replica, asked));
      for (const runner of runners) t.equal(await runner.result(), 'admitted');
      const waiter = new Client(replicas[0], asked);
      await replicas[0].check();
      t.equal(replicas[0].stats().waiting, 1);
      await service.restart();
      await eventually(async () => {
        const checked = await Promise.allSettled(replicas.map((replica) => replica.check()));
        return (
          checked.every(({ status }) => status === 'fulfilled') &&
          replicas.every((replica) => replica.stats().shared)
        );
      });
      t.match(replicas[0].stats(), { running: 1, waiting: 1 }, fallback);
      runners[1]?.release();
      t.match(await waiter.settled(), { kind: 'admitted', position: 1 });
      runners[0]?.release();
      t.match(await decided(replicas[1], asked), { kind: 'admitted' }, 'the fourth');
      const more = request({ concurrency: 9, requests_per_minute: 4 });
      t.match(await decided(replicas[1], more), { status: 429 }, 'four have started');
    }
  });

  await t.test('unavailable with fallback refuse: 503 until it recovers', async (t) => {
    const { service, replicas, log } = await start(t, 'refuse');
    const [one, other] = replicas;
    service.process?.kill('SIGSTOP');
    t.match(await new Client(one, request()).settled(), {
      status: 503,
      message: 'Requests cannot be admitted at the moment',
      retryAfter: 1,
    });
    t.match(one.stats(), { shared: false, running: 0, waiting: 0 });
    service.process?.kill('SIGCONT');
    await eventually(async () => replicas.every((replica) => replica.stats().shared));
    t.equal(await new Client(one, request()).result(), 'admitted');
    t.match(await new Client(other, request({ requests_per_minute: 1 })).settled(), { status: 429 });
    t.match(log, [
      { level: 40, msg: 'Redis unavailable: admission is not shared', fallback: 'refuse' },
      { level: 30, msg: 'Redis recovered: admission is shared again' },
    ]);
  });

  await t.test('unavailable with fallback local: each process applies its share', async (t) => {
    const { service, replicas, log } = await start(t, 'local');
    const [one, other] = replicas;
    // Four of the ten may have started, for all they know: three are left for each.
    const asked = request({ concurrency: 4, requests_per_minute: 10 });
    const before = new Client(one, asked);
    t.equal(await before.result(), 'admitted');
    service.process?.kill('SIGKILL');
    const clients = [1, 2, 3].map(() => new Client(one, asked));
    t.equal(await clients[0]?.result(), 'admitted', 'half of four, and one runs already');
    await eventually(async () => one.stats().waiting === 2);
    t.match(one.stats(), { shared: false, replicas: 2, running: 2, waiting: 2 });
    before.release();
    t.match(await clients[1]?.settled(), { kind: 'admitted', position: 1 });
    const elsewhere = [1, 2].map(() => new Client(other, asked));
    for (const each of elsewhere) t.equal(await each.result(), 'admitted');

    await service.restart();
    await eventually(async () => replicas.every((replica) => replica.stats().shared));
    for (const replica of replicas) await replica.check();
    t.match(one.stats(), { running: 2, waiting: 1 }, 'four run, the other two elsewhere');
    elsewhere[0]?.release();
    t.match(await clients[2]?.settled(), { kind: 'admitted' }, 'one that waited alone waited with all');
    for (const each of [...clients, elsewhere[1]]) each?.release();
    for (const replica of [one, other, one, other]) {
      const client = new Client(replica, asked);
      t.equal(await client.result(), 'admitted');
      client.release();
    }
    t.match(
      await new Client(one, asked).settled(),
      { status: 429 },
      'ten have started, four of them unheard of',
    );
    t.match(log, [
      { level: 40, msg: 'Redis unavailable: admission is not shared', fallback: 'local', replicas: 2 },
      { level: 30, msg: 'Redis recovered: admission is shared again' },
    ]);
  });

  await t.test('a process that has used its portion of a limit responds 503', async (t) => {
    const { service, replicas } = await start(t, 'local');
    const [one] = replicas;
    const asked = request({ concurrency: 100, requests_per_minute: 10 });
    service.process?.kill('SIGKILL');
    // Four of the ten may have started, for all it knows: three are left.
    const outcomes: unknown[] = [];
    for (let sent = 0; sent < 4; sent++) outcomes.push(await new Client(one, asked).settled());
    t.match(outcomes, [...[1, 2, 3].map(() => ({ kind: 'admitted' })), { status: 503, retryAfter: 1 }]);
  });
});

t.test('chosen by configuration, checked at start', async (t) => {
  t.strictSame(loadConfig({}).admission, { fallback: 'local' });
  t.strictSame(loadConfig({ SLUICE_ADMISSION_FALLBACK: 'refuse' }).admission, { fallback: 'refuse' });
  t.throws(() => loadConfig({ SLUICE_ADMISSION_FALLBACK: 'maybe' }), {
    message: 'SLUICE_ADMISSION_FALLBACK must be one of local, refuse, not "maybe"',
  });
  const silent = pino({ level: 'silent' });
  const alone = await openAdmission({ redis: undefined, admission: { fallback: 'local' } }, silent);
  t.match(alone.stats(), { shared: false, replicas: 1 });
  await alone.close();
  const nobody = { redis: 'redis://127.0.0.1:1', admission: { fallback: 'local' as const } };
  await t.rejects(openAdmission(nobody, silent), {
    message: /^Redis at 127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*\.$/,
  });
});

/** Timers run on, while the time that is read has been set. */
class SkewedClock extends VirtualClock {
  skew = 0;

  override now(): number {
    return super.now() + this.skew;
  }
}

const calls = async (admin: Redis): Promise<{ eval: number; evalsha: number }> => {
  const stats = await admin.info('commandstats');
  const count = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return { eval: count('eval'), evalsha: count('evalsha') };
};
