/** Replicas are killed and clients cut off at random, under load: every text is whole, and billed once. */
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { Random } from '../../src/simulator/random.ts';
import { type SimulatorServer, startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { redisMissing, startRedis } from '../services/redis.ts';
import { ask, contentOf, eventsOf, idOf, lastId, leaveAfter, resume, say, send } from './client.ts';

const streams = 40;
const rate = 200;
const megabyte = 1024 * 1024;

const catalogOf = (urls: readonly string[]): string => `
engines:
  lab:
    wire: openai
    replicas: [${urls.map((url) => `'${url}'`).join(', ')}]
    continues: true
    retries: { attempts: 10, budget: 1, budget_min: 100000 }
    circuit_breaker: { cooldown: 50ms, max_cooldown: 100ms }
models:
  lab/chat:
    engine: lab
    served_as: sluice/chat
    context_length: 131072
    tokenizer: simulator
    pricing: { prompt: '0.000001', completion: '0.000002' }
    limits: { concurrency: 1000, requests_per_minute: 100000 }
`;

const disturb = async (t: Test, gateways: readonly TestGateway[], replicas: SimulatorServer[]) => {
  const random = new Random(Number(process.env.SLUICE_CHAOS_SEED ?? 27));
  const events: UsageEvent[] = [];
  for (const { ports } of gateways) {
    const record = ports.usage.record.bind(ports.usage);
    ports.usage.record = (event) => {
      events.push(event);
      return record(event);
    };
  }
  const anyGateway = (): TestGateway => random.pick(gateways as [TestGateway, ...TestGateway[]]);
  const bodies = Array.from({ length: streams }, (_, number) => ({
    model: 'lab/chat',
    messages: say(`/sim tokens=${random.integer(80, 300)}\nWhat about 東京 and tides, ${number}?`),
    seed: number,
    stream: true,
  }));
  const expected = await Promise.all(
    bodies.map(async (body) =>
      contentOf(eventsOf((await ask(anyGateway(), 'POST', '/chat/completions', { body })).text)),
    ),
  );
  await eventually(() => events.length === streams, 'the undisturbed run is billed');
  events.length = 0;

  let stopped = false;
  const kill = async (): Promise<number> => {
    let kills = 0;
    for (; !stopped; kills++) {
      // One at a time, and longer than circuits are open: there is always somebody to go on.
      await delay(random.integer(150, 300));
      const index = random.integer(0, replicas.length - 1);
      const victim = replicas[index] as SimulatorServer;
      await victim.close();
      await delay(random.integer(0, 100));
      replicas[index] = await startSimulatorServer({ rate, port: Number(new URL(victim.url).port) });
    }
    return kills;
  };
  const client = async (body: object): Promise<{ readonly id: string; readonly text: string }> => {
    const sent = await send(anyGateway(), 'POST', '/chat/completions', {
      body,
      headers: { 'sluice-resumable': '60' },
    });
    const id = idOf(sent);
    const got = await leaveAfter(sent, random.integer(1, 40));
    for (let left = random.integer(0, 4); left > 0; left--) {
      await delay(random.integer(0, 100));
      const again = await send(anyGateway(), 'GET', `/streams/${id}?after=${lastId(got)}`);
      got.push(...(await leaveAfter(again, random.integer(1, 60))));
    }
    got.push(...eventsOf((await resume(anyGateway(), id, lastId(got))).text));
    t.strictSame(
      got.map((event) => lastId([event])),
      got.map((_, index) => index),
      'each event once',
    );
    return { id, text: contentOf(got) };
  };
  let peak = 0;
  const watch = setInterval(() => {
    for (const { ports } of gateways) peak = Math.max(peak, ports.streams.stats().memoryBytes);
  }, 5);
  const killing = kill();
  const answers = await Promise.all(bodies.map(client)).finally(() => {
    stopped = true;
    clearInterval(watch);
  });
  const kills = await killing;
  t.ok(kills > 2, `${kills} replicas were killed`);
  t.ok(peak < 16 * megabyte, `at most ${peak} bytes of logs`);
  for (const [number, { text }] of answers.entries()) t.equal(text, expected[number], `text ${number}`);
  await eventually(() => events.length >= streams, 'billed');
  const ids = events.map(({ request_id, outcome }) => `${request_id} ${outcome}`);
  const wanted = answers.map(({ id }) => `${id.replace('stream_', 'req_')} completed`);
  t.strictSame(ids.sort(), wanted.sort(), 'each once');
};

const start = async (t: Test, env: Readonly<Record<string, string>>, count: number) => {
  const replicas = await Promise.all([0, 1, 2, 3, 4].map(() => startSimulatorServer({ rate })));
  const catalog = catalogOf(replicas.map(({ url }) => url));
  const gateways: TestGateway[] = [];
  for (let left = count; left > 0; left--) gateways.push(await startGateway({ catalog, env }));
  t.teardown(async () => {
    for (const gateway of gateways) await gateway.stop();
    for (const replica of replicas) await replica.close();
  });
  await disturb(t, gateways, replicas);
};

t.test('one gateway', (t) => start(t, {}, 1));

t.test('two gateways and Redis', { skip: redisMissing({ own: true }) ?? false }, async (t) => {
  const redis = await startRedis({ own: true });
  t.teardown(() => redis.stop());
  await start(t, { REDIS_URL: redis.url, SLUICE_REDIS_PERSISTENCE: 'ignore' }, 2);
});
