/** Tests that a budget shared by four processes is never exceeded, and exact after some were killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { openLibsqlLedger } from '../../src/adapters/ledger/libsql.ts';
import { partitionOf, partitionTag } from '../../src/adapters/redis-partitions.ts';
import { nanodollars } from '../../src/helpers/decimal.ts';
import { eventually } from '../eventually.ts';
import { redisMissing, startRedis } from '../services/redis.ts';

const budgetKey = `sluice:allowances:${partitionTag(partitionOf(''))}:period:budget`;
const program = fileURLToPath(new URL('./budget-process.ts', import.meta.url));

const open = async (t: Test, limit: number, mode: 'refuse' | 'local') => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'journal'));
  const service = await startRedis({ own: true, persist: true });
  const redis = new Redis(service.url, { retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  const ledger = openLibsqlLedger(join(folder, 'ledger.db'));
  const children: ChildProcess[] = [];
  const end = async (child: ChildProcess, signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  };
  t.teardown(async () => {
    for (const child of children) await end(child, 'SIGKILL');
    redis.disconnect();
    await ledger.close();
    await service.stop();
  });
  const launch = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, ['--import=tsx', program], {
      env: {
        PATH: process.env.PATH,
        REDIS_URL: service.url,
        TEST_FOLDER: folder,
        TEST_LIMIT: String(limit),
        TEST_MODE: mode,
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.push(child);
    await once(child, 'message');
    return child;
  };
  const counted = async () => {
    const [settled, reserved] = await redis.hmget(budgetKey, 'settled', 'reserved');
    return { settled: Number(settled), reserved: Number(reserved) };
  };
  const billed = async () => {
    const [total] = await ledger.totals({ from: 0, to: Number.MAX_SAFE_INTEGER }, [], { limit: 1 });
    return nanodollars(total?.cost ?? '0');
  };
  return { service, launch, end, counted, billed };
};

t.test('four processes, two of them killed', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const limit = 60_000;
  const { launch, end, counted, billed } = await open(t, limit, 'refuse');
  let most = 0;
  const watch = async (ms: number) => {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      const { settled, reserved } = await counted();
      most = Math.max(most, settled + reserved);
      await delay(2);
    }
  };
  const children = await Promise.all([launch(), launch(), launch(), launch()]);
  await watch(300);
  await end(children[0] as ChildProcess, 'SIGKILL');
  await watch(300);
  await end(children[1] as ChildProcess, 'SIGKILL');
  await eventually(async () => {
    await watch(50);
    const { settled } = await counted();
    return settled > limit - 100;
  }, 'the budget to be used up');
  await eventually(
    async () => (await counted()).reserved === 0,
    'what the killed had reserved to be settled',
  );
  await watch(200);
  for (const child of children.slice(2)) await end(child, 'SIGTERM');
  const { settled, reserved } = await counted();
  t.ok(most <= limit, `${most} of ${limit} settled or reserved at most`);
  t.equal(reserved, 0);
  t.equal(settled, await billed(), 'to the nanodollar what was billed');
  t.ok(settled <= limit && settled > limit - 100, `${settled} of ${limit}`);
});

t.test(
  'Redis is killed while four processes work, one of them with it',
  {
    skip: redisMissing({ own: true }) ?? false,
  },
  async (t) => {
    for (const mode of ['refuse', 'local'] as const) {
      const limit = 60_000;
      const { service, launch, end, counted, billed } = await open(t, limit, mode);
      const children = await Promise.all([launch(), launch(), launch(), launch()]);
      await delay(400);
      const restarted = service.restart();
      await end(children[0] as ChildProcess, 'SIGKILL');
      await restarted;
      await eventually(async () => (await counted()).settled > limit - 3_000, 'the budget to be used up', 60);
      await eventually(
        async () => {
          const { settled, reserved } = await counted();
          return reserved === 0 && settled > limit - 500;
        },
        'nothing to be reserved',
        60,
      );
      for (const child of children.slice(1)) await end(child, 'SIGTERM');
      const spent = await billed();
      const { settled } = await counted();
      t.ok(spent <= limit, `${mode}: ${spent} of ${limit} were billed`);
      // A share that may have been used by the process that was killed with Redis counts as used.
      t.ok(
        settled >= spent && settled - spent <= limit * 0.02,
        `${mode}: ${settled} counted, ${spent} billed`,
      );
      if (mode === 'refuse') t.equal(settled, spent);
    }
  },
);
