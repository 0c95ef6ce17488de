/** Tests that several gateway processes sharing Redis admit exactly as many requests as one under overload. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import t from 'tap';
import { Agent, request } from 'undici';
import { partitionOf, partitionTag } from '../../src/adapters/redis-partitions.ts';
import { openRedisState } from '../../src/adapters/state/redis.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { startCountingEngine } from './counting-engine.ts';

const program = fileURLToPath(new URL('./gateway-process.ts', import.meta.url));
const bootstrapKey = 'sk-test-0123456789abcdef0123456789abcdef';
const windowMs = 3000;
const concurrency = 4;
const rate = 20;
/** Seconds of steady overload; set more for a longer run. */
const seconds = Number(process.env.SLUICE_TEST_OVERLOAD_SECONDS ?? 4);

interface Answer {
  readonly status: number;
  readonly retryAfter: number;
  /** Refused by the window, which knows to the second when to come back; the queue can only estimate. */
  readonly byRate: boolean;
  readonly text: string;
}

t.test('gateways that share Redis', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-accuracy-'));
  const service = await startRedis({ own: true });
  const engine = await startCountingEngine();
  const redis = new Redis(service.url);
  const agent = new Agent({ connections: null });
  const gateways: { url: string; child: ChildProcess }[] = [];
  t.teardown(async () => {
    for (const { child } of gateways) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    }
    await agent.destroy();
    redis.disconnect();
    await engine.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
engines:
  far: { wire: openai, replicas: ['${engine.url}'] }
models:
${['one', 'two', 'four', 'other', 'steady', 'killed']
  .map(
    (name) =>
      `  far/${name}: { engine: far, context_length: 1000, limits: { concurrency: ${concurrency}, requests_per_minute: ${rate} } }`,
  )
  .join('\n')}
`,
  );
  const launch = async (index: number): Promise<{ url: string; child: ChildProcess }> => {
    const child = spawn(process.execPath, ['--import=tsx', program], {
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        REDIS_URL: service.url,
        SLUICE_DATA: join(folder, `data-${index}`),
        SLUICE_CONFIG: join(folder, 'sluice.yaml'),
        SLUICE_BOOTSTRAP_KEY: bootstrapKey,
        SLUICE_DRAIN_SECONDS: '0',
        TEST_ADMISSION_RULES: JSON.stringify({ windowMs, ttlMs: 2000 }),
      },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const started = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (typeof started[0] !== 'string') throw new Error(`a gateway ended with ${started[0]}`);
    return { url: started[0], child };
  };
  gateways.push(...(await Promise.all([0, 1, 2, 3].map(launch))));

  const state = openRedisState(service.url);
  const keys = createKeyManagement(state);
  await keys.createSubscription('other');
  const { secret: otherKey } = await keys.createKey({ subscription: 'other' });
  await state.close();

  const ask = async (gateway: number, model: string, time: string, key = bootstrapKey): Promise<Answer> => {
    const answer = await request(`${gateways[gateway]?.url}/chat/completions`, {
      method: 'POST',
      dispatcher: agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: `far/${model}`,
        messages: [{ role: 'user', content: `${key === otherKey ? 'other' : model} ${time}` }],
      }),
    });
    const text = await answer.body.text();
    const byRate = text.includes('Rate limit reached');
    return { status: answer.statusCode, retryAfter: Number(answer.headers['retry-after']), byRate, text };
  };
  const gateKey = (model: string, part: string) =>
    `sluice:admission:${partitionTag(partitionOf('sub_default'))}:gate:11:sub_default:far/${model}:${part}`;

  /** The times of all starts at a gate, in microseconds of the one clock that decides: seen before they are forgotten. */
  const watchStarts = (model: string) => {
    const times = new Map<string, number>();
    let watching = true;
    const look = async (): Promise<void> => {
      const seen = new Map<string, number>();
      for (const time of await redis.lrange(gateKey(model, 'starts'), 0, -1)) {
        const repeat = seen.get(time) ?? 0;
        seen.set(time, repeat + 1);
        times.set(`${time}#${repeat}`, Number(time));
      }
    };
    const done = (async () => {
      while (watching) {
        await look();
        await delay(windowMs / 20);
      }
    })();
    return async (): Promise<number[]> => {
      watching = false;
      await done;
      await look();
      return [...times.values()].sort((one, other) => one - other);
    };
  };

  /** Most starts that any window holds. */
  const fullest = (times: readonly number[]): number =>
    times.reduce((most, time, index) => {
      let count = 1;
      while (index >= count && (times[index - count] ?? 0) > time - windowMs * 1000) count++;
      return Math.max(most, count);
    }, 0);

  /** So many more than may start, all at once, round the first `count` gateways. */
  const burst = async (model: string, count: number) => {
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => ask(index % count, model, '30')),
    );
    return {
      admitted: answers.filter(({ status }) => status === 200).length,
      refused: answers.filter(({ status }) => status === 429),
      others: answers.filter(({ status }) => status !== 200 && status !== 429),
      // On a machine so slow that the window moved on meanwhile, more may rightly have started.
      slow: performance.now() - began > windowMs,
    };
  };
  const twoBursts = async (model: string, count: number) => {
    const stop = watchStarts(model);
    const first = await burst(model, count);
    // By then every start of the first burst has left the window, however slowly they came.
    await delay(windowMs);
    return { model, count, bursts: [first, await burst(model, count)], starts: await stop() };
  };

  await Promise.all(gateways.map((_, index) => ask(index, 'other', '1')));
  // At the same time: each has a gate of its own.
  const histories = await Promise.all([twoBursts('one', 1), twoBursts('two', 2), twoBursts('four', 4)]);
  for (const { model, count, bursts, starts } of histories)
    await t.test(`two bursts on ${count} gateways are admitted exactly up to the limits`, async (t) => {
      for (const { admitted, refused, others, slow } of bursts) {
        t.ok(slow ? admitted >= rate : admitted === rate, `${admitted} of 50 admitted`);
        t.strictSame(others, [], 'the rest is refused');
        for (const { byRate, retryAfter } of refused)
          if (retryAfter < 1 || retryAfter > (byRate ? windowMs / 1000 : 60)) t.fail(`told ${retryAfter} s`);
      }
      t.equal(starts.length, engine.count(model).started, 'what Redis counted is what the engine saw');
      t.equal(fullest(starts), rate, 'in any window');
      t.match(engine.count(model), { running: 0, most: concurrency }, 'at once');
    });

  await t.test('steady overload does not affect a subscription within its limits', async (t) => {
    const stop = watchStarts('steady');
    const until = performance.now() + seconds * 1000;
    let good = 0;
    const worker = async (index: number): Promise<void> => {
      for (let round = index; performance.now() < until; round++) {
        const { status } = await ask(round % 4, 'steady', String(10 + ((index * 7) % 40)));
        if (status === 200) good++;
        else await delay(40 + index);
      }
    };
    const modest = async (): Promise<number[]> => {
      const statuses: number[] = [];
      while (performance.now() < until) {
        statuses.push((await ask(statuses.length % 4, 'steady', '5', otherKey)).status);
        await delay(windowMs / 10);
      }
      return statuses;
    };
    const [statuses] = await Promise.all([
      modest(),
      ...Array.from({ length: 16 }, (_, index) => worker(index)),
    ]);
    const starts = await stop();
    t.equal(starts.length, good);
    t.equal(fullest(starts), rate, `${starts.length} starts, never more than ${rate} in any window`);
    t.ok(starts.length >= rate * Math.floor((seconds * 1000) / windowMs), 'and no fewer than there could be');
    t.equal(engine.count('steady').most, concurrency);
    t.strictSame([...new Set(statuses)], [200], 'the flood of one is not felt by the other');
  });

  await t.test('kill -9: slots of dead processes are freed', async (t) => {
    const holding = Array.from({ length: concurrency }, () =>
      ask(3, 'killed', 'hold').catch(() => undefined),
    );
    while (engine.count('killed').running < concurrency) await delay(10);
    const waiting = [ask(0, 'killed', '1'), ask(1, 'killed', '1')];
    while ((await redis.zcard(gateKey('killed', 'queue'))) < 2) await delay(10);
    gateways[3]?.child.kill('SIGKILL');
    t.match(await Promise.all(waiting), [{ status: 200 }, { status: 200 }]);
    t.equal(engine.count('killed').most, concurrency, 'nobody started while they were held');
    await Promise.all(holding);
  });

  await t.test('no slot is held and nothing waits at the end', async (t) => {
    for (const model of ['one', 'two', 'four', 'steady', 'killed'])
      for (const part of ['alive', 'queue']) {
        for (let look = 0; look < 200 && (await redis.exists(gateKey(model, part))) > 0; look++)
          await delay(20);
        t.equal(await redis.exists(gateKey(model, part)), 0, `${model} ${part}`);
      }
  });
});
