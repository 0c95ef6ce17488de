/** Replicas killed at random under load: every stream is that of an undisturbed run, and billed once. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { Random } from '../../src/simulator/random.ts';
import { type SimulatorServer, startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually, patiently } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { streamed } from './fixtures.ts';

const clients = 12;
const requestsEach = 8;

t.test('replicas are killed and come back', { timeout: patiently(120_000) }, async (t) => {
  const random = new Random(Number(process.env.SLUICE_CHAOS_SEED ?? 27));
  const replicas: (SimulatorServer | undefined)[] = await Promise.all(
    [0, 1, 2, 3].map(() => startSimulatorServer({ rate: 250 })),
  );
  const urls = replicas.map((replica) => replica?.url ?? '');
  const gateway = await startGateway({
    catalog: `
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
    served_as: thinker
    context_length: 131072
    tokenizer: simulator
    pricing: { prompt: '0.000001', completion: '0.000002' }
    reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: false }
    limits: { concurrency: 100, requests_per_minute: 100000 }
`,
  });
  const events: UsageEvent[] = [];
  const record = gateway.ports.usage.record.bind(gateway.ports.usage);
  gateway.ports.usage.record = (event) => {
    events.push(event);
    return record(event);
  };
  t.teardown(async () => {
    await gateway.stop();
    for (const replica of replicas) await replica?.close();
  });

  const ask = async (body: object, leaveAfter = Number.POSITIVE_INFINITY) => {
    const response = await fetch(`${gateway.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'lab/chat', stream: true, ...body }),
    });
    let raw = '';
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      raw += decoder.decode(bytes as Uint8Array, { stream: true });
      // This closes the connection. After an abort, Node's fetch sometimes waits for ever for the end of the body.
      if (raw.length > leaveAfter) break;
    }
    return streamed(raw, response);
  };
  /** Every request of a run, and what it is answered with while nothing happens. */
  const bodies = Array.from({ length: clients * requestsEach }, (_, number) => ({
    seed: number,
    max_tokens: random.integer(30, 90),
    ...(random.fraction() < 0.5 && { reasoning_effort: 'low' }),
    messages: [
      {
        role: 'user',
        content: `/sim tokens=${random.integer(20, 80)}\nWhat about 東京 and tides, ${number}?`,
      },
    ],
  }));
  const expected = await Promise.all(bodies.map((body) => ask(body)));
  await eventually(() => events.length === bodies.length, 'the undisturbed run is billed');
  const undisturbed = new Map(events.map((event) => [event.request_id, event]));
  events.length = 0;

  let stopped = false;
  let kills = 0;
  const kill = async (): Promise<void> => {
    while (!stopped) {
      await delay(random.integer(40, 160));
      const index = random.integer(0, replicas.length - 1);
      const victim = replicas[index];
      // One at a time, so that there is always somebody to go on.
      await victim?.close();
      replicas[index] = undefined;
      kills++;
      await delay(random.integer(0, 100));
      replicas[index] = await startSimulatorServer({
        rate: 250,
        port: Number(new URL(urls[index] ?? '').port),
      });
    }
  };
  const killing = kill();
  let [continued, left] = [0, 0];
  const client = async (number: number): Promise<void> => {
    for (let at = number; at < bodies.length; at += clients) {
      const [body, whole] = [bodies[at], expected[at]];
      if (body === undefined || whole === undefined) continue;
      const leaves = at % 8 === 7;
      const answer = await ask(body, leaves ? whole.raw.length / 2 : undefined);
      if (leaves) {
        left++;
        t.ok(
          whole.text.startsWith(answer.text) && whole.reasoning.startsWith(answer.reasoning),
          'the beginning',
        );
        continue;
      }
      if ((answer.last.x_sluice_attempts ?? 1) > 1) continued++;
      const { text, reasoning, finish, error, last } = answer;
      t.strictSame(
        { text, reasoning, finish, error, usage: last.usage },
        {
          text: whole.text,
          reasoning: whole.reasoning,
          finish: whole.finish,
          error: undefined,
          usage: whole.last.usage,
        },
      );
      const id = answer.response.headers.get('x-request-id');
      const [event, ...more] = events.filter(({ request_id }) => request_id === id);
      const before = undisturbed.get(whole.response.headers.get('x-request-id') ?? '');
      t.strictSame(more, []);
      t.match(event, { outcome: 'completed', cost: before?.cost, quantities: before?.quantities });
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  stopped = true;
  await killing;
  await eventually(() => events.length === bodies.length, 'all requests are billed');
  t.equal(new Set(events.map(({ request_id }) => request_id)).size, bodies.length, 'each once');
  const count = (which: string): number => events.filter(({ outcome }) => outcome === which).length;
  // Who leaves may be late: the answer has ended.
  t.equal(count('completed') + count('cancelled'), bodies.length);
  t.ok(count('cancelled') <= left && count('cancelled') > 0, `${count('cancelled')} of ${left} left early`);
  t.ok(continued > 0 && kills > 0, `${continued} of ${bodies.length} continued, ${kills} kills`);
});
