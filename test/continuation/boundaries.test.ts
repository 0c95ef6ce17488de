/** Streams of the simulator, cut behind every token and inside events: the text is that of an undisturbed one. */
import t, { type Test } from 'tap';
import { type SimulatorServerOptions, startSimulatorServer } from '../../src/simulator/server/server.ts';
import { startGateway } from '../gateway.ts';
import { orLong } from '../long.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { type Streamed, streamed } from './fixtures.ts';

interface Cut {
  readonly proxy: CuttingProxy;
  ask(path: string, body: object): Promise<Streamed>;
}

/** A replica whose responses can be cut, which is called first, and another. */
const startCut = async (t: Test, options: SimulatorServerOptions = {}): Promise<Cut> => {
  const engines = await Promise.all(
    [0, 1].map(() => startSimulatorServer({ rate: Number.POSITIVE_INFINITY, ...options })),
  );
  const [first, second] = engines;
  const proxy = await startCuttingProxy(first?.url ?? '');
  const gateway = await startGateway({
    catalog: `
engines:
  lab:
    wire: openai
    replicas: [{ url: '${proxy.url}', weight: 1000 }, { url: '${second?.url}', weight: 0.01 }]
    continues: true
    retries: { budget_min: 100000 }
    circuit_breaker: { server_failures: 1000, connection_failures: 1000 }
models:
  lab/chat:
    engine: lab
    served_as: thinker
    context_length: 131072
    tokenizer: simulator
    reasoning: { mandatory: false, supports_max_tokens: true, default_enabled: false }
    limits: { concurrency: 8, requests_per_minute: 100000 }
`,
  });
  t.teardown(async () => {
    await gateway.stop();
    await proxy.close();
    for (const engine of engines) await engine.close();
  });
  return {
    proxy,
    ask: async (path, body) => {
      const response = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'lab/chat', stream: true, ...body }),
      });
      return streamed(await response.text(), response);
    },
  };
};

/** What must not depend on where it was cut. */
const seen = ({ text, reasoning, finish, error, last, events }: Streamed, counts: boolean) => ({
  text,
  reasoning,
  finish,
  error,
  usage: counts ? last.usage : undefined,
  ids: new Set(events.map(({ id }) => id)).size,
});

const words = JSON.stringify('One 🌊🌊 naïve “two”\n\n  – 東京, e\u0301 and \\ "three".');
const messages = [{ role: 'user', content: `/sim text=${words} reasoning=6\nHow do tides work?` }];

/** Bytes from cut to cut: several in each event, at other places of each; in `npm test` one in most events. */
const step = orLong(179, 31);

for (const quirks of [[], ['think_tags'], ['split_utf8', 'reasoning_content']] as const)
  t.test(`the simulator with ${quirks.join(', ') || 'no quirks'}`, async (t) => {
    const { proxy, ask } = await startCut(t, { quirks });
    for (const body of [
      { messages, reasoning_effort: 'low' },
      { messages, reasoning_effort: 'low', max_tokens: 14 },
      { messages, reasoning_effort: 'low', stop: ['e\u0301 and'] },
    ]) {
      // What a stop sequence consists of is generated, and not delivered.
      const counts = !('stop' in body);
      const whole = seen(await ask('/chat/completions', body), counts);
      t.match(whole, { error: undefined, ids: 1 });
      t.equal(whole.reasoning.split(/(?=[ .])/).length, 6, whole.reasoning);
      const bytes = proxy.passed;
      let continued = 0;
      for (let cut = 200; cut < bytes; cut += step) {
        proxy.cutAfter = cut;
        const answer = await ask('/chat/completions', body);
        if (answer.last.x_sluice_attempts === 2) continued++;
        const now = seen(answer, counts);
        if (JSON.stringify(now) !== JSON.stringify(whole)) {
          t.strictSame(now, whole, `cut after ${cut} of ${bytes} bytes`);
          break;
        }
      }
      t.ok(continued > (bytes - 200) / step / 2, `${continued} were continued, of ${bytes} bytes`);
    }
  });

t.test('every format', async (t) => {
  const { proxy, ask } = await startCut(t);
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const requests: Readonly<Record<string, object>> = {
    '/messages': { messages, max_tokens: 4000, thinking },
    '/responses': { input: messages[0]?.content, reasoning: { effort: 'low' } },
  };
  /** All deltas of a stream, and how it ended. */
  const read = ({ events }: Streamed) =>
    JSON.stringify(
      events.map((event) => {
        const { type, delta, usage, response } = event as Record<string, Record<string, unknown>>;
        return [type, delta, usage, response?.usage, response?.status];
      }),
    ).replaceAll(/"signature":"[^"]*"/g, '');
  for (const [path, body] of Object.entries(requests)) {
    const whole = read(await ask(path, body));
    const bytes = proxy.passed;
    for (let cut = 250; cut < bytes; cut += orLong(389, 97)) {
      proxy.cutAfter = cut;
      const answer = await ask(path, body);
      if (read(answer) !== whole) t.equal(read(answer), whole, `${path}, cut after ${cut} of ${bytes} bytes`);
    }
    t.ok(bytes > 1000, path);
  }
});
