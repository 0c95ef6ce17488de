/** Tests that `Retry-After` is a whole number of seconds in every state of a pool and on every route. */
import fc from 'fast-check';
import t from 'tap';
import type { EngineCall, EngineReader } from '../../src/engines/engine-call.ts';
import { connectionError, EngineError, statusError } from '../../src/engines/engine-error.ts';
import type { Dispatch } from '../../src/engines/pool/dispatch.ts';
import { ReplicaPool } from '../../src/engines/pool/pool.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import { Pace, retryAfter } from '../../src/helpers/pace.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { startBehindGateway } from './behind-gateway.ts';
import { silent } from './collect.ts';

const seconds = /^[1-9]\d*$/;

t.test('whatever is estimated', async (t) => {
  fc.assert(
    fc.property(fc.double(), (milliseconds) => {
      const header = retryAfter(milliseconds)['retry-after'];
      return seconds.test(header) && Number(header) <= 60;
    }),
    { numRuns: 1000, examples: [[Number.NaN], [-1], [0], [1e300], [Number.POSITIVE_INFINITY]] },
  );
  const pace = new Pace(0);
  t.equal(retryAfter(pace.estimate(3, Number.POSITIVE_INFINITY, 0))['retry-after'], '1');
  t.end();
});

/** Replicas whose calls end when the test says so. */
class FakeDispatch {
  readonly running: EngineReader[] = [];

  send(_request: unknown, _flow: unknown, reader: EngineReader): EngineCall {
    this.running.push(reader);
    return { close: () => this.#forget(reader) };
  }

  /** The longest running call. */
  take(): EngineReader | undefined {
    return this.running.shift();
  }

  #forget(reader: EngineReader): void {
    const at = this.running.indexOf(reader);
    if (at >= 0) this.running.splice(at, 1);
  }
}

type Step =
  | { readonly does: 'send' }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'succeed' | 'break' | 'busy' | 'fail'; readonly replica: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('send' as const) }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 100_000 }) }),
  fc.record({
    does: fc.constantFrom('succeed' as const, 'break' as const, 'busy' as const, 'fail' as const),
    replica: fc.nat(2),
  }),
);

const endings: Record<'succeed' | 'break' | 'busy' | 'fail', (reader: EngineReader) => void> = {
  succeed: (reader) => {
    reader.head({ contentType: 'application/json', settle: () => undefined });
    reader.end();
  },
  break: (reader) => reader.error(connectionError(new Error('refused'), 'waiting')),
  busy: (reader) => reader.error(statusError(503, undefined, undefined)),
  fail: (reader) => reader.error(statusError(500, undefined, undefined)),
};

interface PoolRun {
  readonly replicas: number;
  readonly concurrency: number;
  readonly queueLength: number;
  readonly script: readonly Step[];
}

t.test('in every state of a pool', async (t) => {
  let now = 1000;
  const { now: realNow } = performance;
  performance.now = () => now;
  const states = new Set<string>();
  const pools: fc.Arbitrary<PoolRun> = fc.record({
    replicas: fc.integer({ min: 1, max: 3 }),
    concurrency: fc.constantFrom(1, 2, 1000, Number.POSITIVE_INFINITY),
    queueLength: fc.constantFrom(0, 1, 3),
    script: fc.array(steps, { minLength: 10, maxLength: 80, size: 'max' }),
  });

  const runPool = ({ replicas, concurrency, queueLength, script }: PoolRun): void => {
    const dispatches = Array.from({ length: replicas }, () => new FakeDispatch());
    const pool = new ReplicaPool({
      replicas: dispatches.map((each, at) => new Replica(`http://r${at}/v1`, each as unknown as Dispatch)),
      concurrency,
      queueLength,
      log: silent,
    });
    const calls: EngineCall[] = [];
    const reader: EngineReader = {
      head: () => undefined,
      bytes: () => undefined,
      end: () => undefined,
      error: (error) => check(error.headers['retry-after'], error.message),
    };
    const check = (header: string | undefined, message: string): void => {
      // The engine's own refusals may have none.
      if (header === undefined) return;
      if (!seconds.test(header) || Number(header) > 60) throw new Error(`Retry-After: ${header}, ${message}`);
    };
    for (const step of script) {
      if (step.does === 'wait') now += step.ms;
      else if (step.does === 'send') {
        try {
          calls.push(pool.send(request, flow(), reader));
        } catch (thrown) {
          if (!(thrown instanceof EngineError)) throw thrown;
          t.equal(typeof thrown.headers['retry-after'], 'string');
          check(thrown.headers['retry-after'], thrown.message);
        }
      } else {
        const running = dispatches[step.replica % replicas]?.take();
        if (running !== undefined) endings[step.does](running);
      }
      const { headers, message } = pool.refusal();
      if (headers['retry-after'] === undefined) throw new Error('no Retry-After');
      check(headers['retry-after'], message);
      const cooldown = Math.min(...pool.replicas.map((replica) => replica.cooldownLeft(now)));
      if (
        pool.health() === 'down' &&
        Number(headers['retry-after']) !== Math.max(1, Math.ceil(cooldown / 1000))
      )
        throw new Error(`Retry-After: ${headers['retry-after']} for a cooldown of ${cooldown} ms`);
      states.add(`${pool.health()} ${concurrency} ${pool.stats().waiting > 0 ? 'queued' : 'empty'}`);
    }
    for (const call of calls) call.close();
  };

  try {
    fc.assert(fc.property(pools, runPool), { numRuns: 400 });
  } finally {
    performance.now = realNow;
  }
  for (const state of [
    'ok 1 queued',
    'ok 1 empty',
    'down 1 empty',
    'down Infinity empty',
    'ok Infinity empty',
  ])
    t.ok(states.has(state), `seen: ${state}`);
});

const request = {
  method: 'POST',
  path: '/chat/completions',
  headers: [],
  body: '{}',
  streams: false,
  readError: () => ({ status: 500, message: undefined }),
} as const;

const flow = () => ({ requestId: 'r', subscription: 's', backpressure: new Backpressure() });

t.test('an engine that is down, on every route', async (t) => {
  const { engine, post, gateway } = await startBehindGateway(
    t,
    (request) => request.reset(),
    (url) => `
engines:
  lab: { wire: openai, replicas: ['${url}'] }
models:
  lab/chat: { engine: lab, context_length: 8192, tokenizer: simulator }
  lab/embed: { engine: lab, kind: embedding, context_length: 512, tokenizer: simulator, capabilities: { embedding: { dimensions: 4 } } }
  lab/decide: { engine: lab, kind: decision, context_length: 4096, tokenizer: simulator }
  lab/speech: { engine: lab, kind: speech, voices: [ada] }
  lab/image:
    engine: lab
    kind: image
    capabilities: { image: { max_prompt_length: 100, streaming: false, parameters: { n: { type: range, min: 1, max: 2, default: 1 }, size: { type: constraint, multiple_of: 16, min_area: 256, max_area: 4194304, max_ratio: 4, default: 64x64 }, output_format: { type: enum, values: [png], default: png } } } }
`,
  );
  const messages = [{ role: 'user', content: 'Hi' }];
  const chat = { model: 'lab/chat', messages };
  const down = () => gateway.ports.engines.health().lab === 'down';
  for (let attempt = 0; attempt < 5 && !down(); attempt++) await post('/chat/completions', chat);
  t.ok(down(), 'the only replica is ejected');

  const routes: readonly (readonly [path: string, body: object, status: number])[] = [
    ['/chat/completions', chat, 503],
    ['/chat/completions', { ...chat, stream: true }, 503],
    ['/completions', { model: 'lab/chat', prompt: 'Hi' }, 503],
    ['/messages', { ...chat, max_tokens: 9 }, 503],
    ['/responses', { model: 'lab/chat', input: 'Hi' }, 503],
    ['/embeddings', { model: 'lab/embed', input: 'Hi' }, 503],
    [
      '/systemone',
      { model: 'lab/decide', state: 'x', questions: { a: { type: 'noul', instructions: 'Is it?' } } },
      529,
    ],
    ['/audio/speech', { model: 'lab/speech', input: 'Hi', voice: 'ada' }, 503],
    ['/images/generations', { model: 'lab/image', prompt: 'A house' }, 503],
  ];
  for (const [path, body, status] of routes) {
    // After a cooldown one call is tried, and fails otherwise.
    let answer = await post(path, body);
    for (let attempt = 0; attempt < 5 && answer.status === 502; attempt++) answer = await post(path, body);
    t.equal(answer.status, status, `${path} ${answer.text}`);
    t.match(answer.headers.get('retry-after'), seconds, path);
  }
  t.ok(engine.requests.length > 0);
});
