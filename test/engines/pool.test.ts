/** Tests replica pools: balancing, ejection, retries, several choices and reloads. */
import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import { Value } from 'typebox/value';
import { EngineRow } from '../../schemas/engines.ts';
import { milliseconds } from '../../src/engines/duration.ts';
import type { RunningEngine } from '../../src/engines/engine.ts';
import { EngineError } from '../../src/engines/engine-error.ts';
import { Deadlines } from '../../src/engines/http1/deadlines.ts';
import { Dispatch } from '../../src/engines/pool/dispatch.ts';
import { Replica } from '../../src/engines/pool/replica.ts';
import { createEngines } from '../../src/engines/table.ts';
import type { Engine } from '../../src/ports/engines/engine.ts';
import { eventually } from '../eventually.ts';
import { sampleModel } from '../samples.ts';
import { ask, Collected, chatOf, engineOn, silent } from './collect.ts';
import { event, type ScriptedEngine, startScriptedEngine, token } from './scripted-engine.ts';

const text = (words: string, choice = 0) => ({ type: 'text', choice, text: words });
const finish = (choice = 0) => ({ type: 'finish', choice, reason: 'stop', native: 'stop' });
const said = (words: string) => ({ parts: [text(words), finish()], error: undefined });

const start = (count: number): Promise<ScriptedEngine[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      startScriptedEngine((request) => request.answer(`r${index}`)),
    ),
  );

const notAsked: Engine['chat'] = () => {
  throw new Error('not asked');
};

const urls = (engines: readonly ScriptedEngine[]): string[] => engines.map((engine) => engine.url);

const stopAll = async (subject: RunningEngine, engines: readonly ScriptedEngine[]): Promise<void> => {
  await Promise.all(engines.map((engine) => engine.close()));
  await subject.close();
};

t.test('calls are balanced round-robin between equals, otherwise least busy first', async (t) => {
  const engines = await start(3);
  const subject = engineOn(urls(engines));
  for (let count = 0; count < 6; count++) await ask(subject);
  t.strictSame(
    engines.map((engine) => engine.requests.length),
    [2, 2, 2],
  );

  for (const engine of engines) engine.script = () => undefined;
  const held = Array.from({ length: 4 }, () => new Collected(subject));
  await eventually(() => engines.reduce((sum, engine) => sum + engine.requests.length, 0) === 10);
  const idle = engines.filter((engine) => engine.requests.length === 3);
  t.equal(idle.length, 2, 'two replicas have one call, one has two');
  for (const engine of engines) engine.script = (request) => request.answer();
  const before = idle.map((engine) => engine.requests.length);
  await ask(subject);
  await ask(subject);
  t.ok(
    idle.reduce((sum, engine) => sum + engine.requests.length, 0) === before.reduce((a, b) => a + b, 0) + 2,
  );
  for (const collected of held) collected.subscription.unsubscribe();
  await stopAll(subject, engines);
});

t.test('a replica takes no more than its slots; while all are full a call waits', async (t) => {
  const engines = await start(2);
  for (const engine of engines) engine.script = () => undefined;
  const subject = engineOn(urls(engines), { concurrency: 2 });
  const held = Array.from({ length: 4 }, () => new Collected(subject));
  await eventually(() => engines.every((engine) => engine.requests.length === 2));
  const waiting = ask(subject);
  for (const engine of engines) engine.script = (request) => request.answer('ok');
  held[0]?.subscription.unsubscribe();
  t.strictSame(await waiting, said('ok'));
  t.strictSame(await ask(subject), said('ok'));
  t.equal(subject.health(), 'ok');
  for (const collected of held) collected.subscription.unsubscribe();
  await stopAll(subject, engines);
});

t.test('another replica is tried before the first byte, and only then', async (t) => {
  const engines = await start(2);
  const [first, second] = engines;
  if (first === undefined || second === undefined) throw new Error('two replicas were started');
  for (const [name, script] of Object.entries({
    reset: (request) => request.reset(),
    '500': (request) => request.json(500, {}),
    '503': (request) => request.json(503, {}),
    '429': (request) => request.json(429, {}),
    '404': (request) => request.json(404, {}),
  } satisfies Record<string, ScriptedEngine['script']>)) {
    first.script = script;
    const subject = engineOn(urls(engines));
    t.strictSame(
      [await ask(subject), await ask(subject, { stream: false })].map((outcome) => outcome.error),
      [undefined, early],
      name,
    );
    await subject.close();
  }
  const never: Record<string, ScriptedEngine['script']> = {
    '400': (request) => request.json(400, {}),
    '504': (request) => request.json(504, {}),
    'a head': (request) => {
      request.streamHead();
      request.socket.end();
    },
    'a token': (request) => {
      request.streamHead();
      request.chunk(token('Hel'));
      request.socket.end();
    },
  };
  for (const [name, script] of Object.entries(never)) {
    first.script = script;
    const requests = second.requests.length;
    const subject = engineOn(urls(engines));
    const outcome = await ask(subject);
    t.ok(outcome.error !== undefined || outcome.parts.length === 2, name);
    t.equal(second.requests.length, requests, `${name}: the other replica was not tried`);
    await subject.close();
  }
  await Promise.all(engines.map((engine) => engine.close()));
});

/** The second replica streams whatever was asked: what matters is that it was reached. */
const early = ['engine_unreachable', 'The engine sent an answer that cannot be read'];

t.test('a call whose replica cannot be reached waits for one that is only busy', async (t) => {
  const [busy, dead] = (await start(2)) as [ScriptedEngine, ScriptedEngine];
  busy.script = () => undefined;
  const subject = engineOn(urls([busy, dead]), { concurrency: 1 });
  const held = new Collected(subject);
  await eventually(() => busy.requests.length === 1);
  await dead.close();
  const waiting = Array.from({ length: 3 }, () => ask(subject));
  busy.script = (request) => request.answer('later');
  held.subscription.unsubscribe();
  t.strictSame(await Promise.all(waiting), [said('later'), said('later'), said('later')]);

  busy.script = () => undefined;
  const last = new Collected(subject);
  await eventually(() => busy.requests.length === 5);
  const refused = ask(subject);
  await busy.close();
  t.equal((await last.ended)?.kind, 'engine_unreachable');
  t.match(
    await refused,
    { parts: [], error: [/^(unavailable|engine_unreachable)$/] },
    'not when none is left',
  );
  await subject.close();
});

t.test('a stale connection is replaced, on the same replica too', async (t) => {
  const engine = await startScriptedEngine((request) =>
    request.number === 1 ? request.reset() : request.answer(),
  );
  const subject = engineOn([engine.url]);
  t.strictSame(await ask(subject), said('Hello'));
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(await ask(subject), said('Hello'));
  t.equal(engine.requests.length, 3);
  t.equal(subject.health(), 'ok');

  engine.script = (request) => {
    request.answer();
    request.socket.end();
  };
  t.strictSame(await ask(subject), said('Hello'), 'closed by the peer after the answer');
  t.strictSame(await ask(subject), said('Hello'));
  await stopAll(subject, [engine]);
});

t.test('of many stale connections a call meets one', async (t) => {
  const seen = new Set<unknown>();
  let held: (() => void)[] = [];
  // As llama.cpp's server: it closes connections after a response, though it did not announce it.
  const engine = await startScriptedEngine((request) => {
    if (seen.has(request.socket)) request.reset();
    else if (seen.add(request.socket).size <= 4) held.push(() => request.answer('first'));
    else request.answer('fresh');
  });
  const subject = engineOn([engine.url]);
  const first = Array.from({ length: 4 }, () => ask(subject));
  await eventually(() => held.length === 4);
  for (const answer of held) answer();
  held = [];
  t.strictSame(await Promise.all(first), Array(4).fill(said('first')));
  t.strictSame(await ask(subject), said('fresh'));
  t.equal(engine.requests.length, 6, 'one on a stale connection, one on a new one');
  await stopAll(subject, [engine]);
});

t.test('a replica that fails is ejected, and recovers', async (t) => {
  const lines: string[] = [];
  const log = pino(new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }));
  const engines = await start(2);
  const [first, second] = engines;
  if (first === undefined || second === undefined) throw new Error('two replicas were started');
  first.script = (request) => request.reset();
  const table = createEngines(
    { 'pool-a': { wire: 'openai', replicas: urls(engines) } },
    { simulator: { chat: notAsked }, log, env: {} },
  );
  const subject = {
    chat: chatOf(table.of(sampleModel())),
    health: () => 'ok',
    close: () => table.close(),
  } as RunningEngine;
  for (let count = 0; count < 8; count++) t.strictSame(await ask(subject), said('r1'));
  t.equal(first.requests.length, 2, 'two failures are enough');
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ msg: 'replica ejected', engine: 'pool-a', replica: first.url, cooldownMs: 500 }],
  );
  first.script = (request) => request.answer('r0');
  // Its cooldown is over after half a second: the next call is its trial.
  let back = false;
  for (let count = 0; count < 400 && !back; count++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    back = (await ask(subject)).parts.some((part) => 'text' in part && part.text === 'r0');
  }
  t.ok(back, 'the replica is tried again');
  t.match(JSON.parse(lines.at(-1) ?? ''), { msg: 'replica recovered', engine: 'pool-a', replica: first.url });
  await Promise.all(engines.map((engine) => engine.close()));
  await table.close();
});

t.test('circuit breaker: thresholds, growing cooldowns, one trial at a time', async (t) => {
  const limits = { connect: 1, firstByte: 1, idle: 1, total: 1 };
  const replica = new Replica(
    'http://x',
    new Dispatch({ url: 'http://127.0.0.1:1' }, new Deadlines(1), { limits, ca: undefined }),
  );
  const free = (now: number) => replica.canTake(now, 2);
  t.notOk(replica.failed('connection', 0));
  t.ok(free(0));
  t.ok(replica.failed('connection', 0), 'opens');
  t.strictSame([free(499), free(500)], [false, true]);
  replica.busy = 1;
  t.notOk(free(500), 'one trial at a time');
  replica.busy = 0;
  t.notOk(replica.failed('server', 500), 'is open already');
  t.strictSame([free(1499), free(1500)], [false, true]);
  for (let count = 0; count < 10; count++) replica.failed('connection', 0);
  t.strictSame([free(29_999), free(30_000)], [false, true], 'cooldowns grow to half a minute');
  t.ok(replica.succeeded());
  t.equal(replica.circuit, 'closed');
  for (let count = 0; count < 4; count++) t.notOk(replica.failed('server', 0));
  t.notOk(replica.failed('none', 0));
  t.ok(replica.failed('server', 0), 'five server errors in a row');
  replica.succeeded();
  replica.busy = 2;
  t.notOk(free(0), 'full');
});

t.test('all replicas down is a 503, after the 502 that showed it', async (t) => {
  const engine = await startScriptedEngine(() => undefined);
  await engine.close();
  const subject = engineOn([engine.url]);
  const kinds: (string | undefined)[] = [];
  for (let count = 0; count < 3; count++) kinds.push((await ask(subject)).error?.[0]);
  t.strictSame(kinds, ['engine_unreachable', 'engine_unreachable', 'unavailable']);
  t.equal(subject.health(), 'down');
  await subject.close();
});

t.test('the last replica is not ejected while it serves other calls', async (t) => {
  const engine = await startScriptedEngine((request) => {
    request.streamHead();
    request.chunk(token('Hello'));
  });
  const subject = engineOn([engine.url]);
  const streaming = new Collected(subject);
  await eventually(() => streaming.parts.length > 0);
  engine.script = (request) => request.reset();
  for (let count = 0; count < 4; count++)
    t.equal((await ask(subject)).error?.[0], 'engine_unreachable', 'tried each time');
  t.equal(subject.health(), 'ok');
  streaming.subscription.unsubscribe();
  for (let count = 0; count < 2; count++) await ask(subject);
  t.equal(subject.health(), 'down', 'once it answers nobody, it is ejected as any other');
  await stopAll(subject, [engine]);
});

t.test('health probes detect recovery without a call', async (t) => {
  const engine = await startScriptedEngine((request) => request.json(500, {}));
  const subject = engineOn([engine.url], { probe: { path: '/health?x=1', interval: '20ms' } });
  await eventually(() => subject.health() === 'down');
  t.match(engine.requests[0]?.head, /^GET \/health\?x=1 HTTP\/1\.1\r\n/);
  engine.script = (request) => (request.head.startsWith('GET') ? request.json(200, {}) : request.answer());
  await eventually(() => subject.health() === 'ok');
  t.strictSame(await ask(subject), said('Hello'));
  await stopAll(subject, [engine]);
});

t.test('n choices, made by the engine or by n calls', async (t) => {
  const engine = await startScriptedEngine((request) => {
    const { seed } = JSON.parse(request.body);
    request.streamHead();
    request.chunk(token(`seed ${seed}`));
    request.chunk(
      event({
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 1 } },
      }),
    );
    request.end();
  });
  const subject = engineOn([engine.url], { fan_out_n: true });
  const collected = new Collected(subject, { n: 3, sampling: { seed: 7 } });
  const { parts, error } = await collected.outcome();
  t.equal(error, undefined);
  t.strictSame(
    [0, 1, 2].map((choice) => parts.filter((part) => 'choice' in part && part.choice === choice)),
    [0, 1, 2].map((choice) => [text(`seed ${7 + choice}`, choice), finish(choice)]),
  );
  t.strictSame(parts.at(-1), { type: 'usage', usage: { prompt: 5, completion: 6, cached: 1, reasoning: 0 } });
  t.strictSame(
    engine.requests.map((request) => JSON.parse(request.body).n),
    [undefined, undefined, undefined],
  );
  await subject.close();

  const native = engineOn([engine.url]);
  await ask(native, { n: 2 });
  t.equal(JSON.parse(engine.requests[3]?.body ?? '{}').n, 2);
  await stopAll(native, [engine]);
});

t.test('n calls fail, pause and stop as one', async (t) => {
  const engine = await startScriptedEngine(
    (request) => void (request.number === 1 ? request.json(400, {}) : undefined),
  );
  const subject = engineOn([engine.url], { fan_out_n: true });
  t.strictSame(
    (await ask(subject, { n: 2 })).error?.[0],
    'invalid_request',
    'before the first part: an error',
  );
  await (await engine.request(0)).gone;

  const later = new Collected(subject, { n: 2 }, (self) => self.backpressure.pause());
  const [third, fourth] = [await engine.request(2), await engine.request(3)];
  third.streamHead();
  third.chunk(token('Hel'));
  await later.more();
  fourth.streamHead();
  fourth.chunk(token('Bon'));
  await eventually(() => fourth.socket.writableLength === 0);
  t.equal(later.parts.length, 1, 'both are paused');
  const more = later.more();
  later.backpressure.resume();
  await more;
  later.backpressure.resume();
  fourth.reset();
  t.match(await later.outcome(), { parts: [{}, {}, ['failure', 'engine_unreachable']], error: undefined });
  await third.gone;
  t.pass('the failure of one ends all');
  await stopAll(subject, [engine]);
});

t.test('the table: which engine serves a model, and what a reload keeps', async (t) => {
  const simulator: Engine = { chat: notAsked };
  const engines = await start(2);
  const [first, second] = engines;
  if (first === undefined || second === undefined) throw new Error('two replicas were started');
  const rowOf = (engine: ScriptedEngine, concurrency = 9) => ({
    wire: 'openai' as const,
    replicas: [engine.url],
    concurrency,
  });
  const table = createEngines({ a: rowOf(first), b: rowOf(second) }, { simulator, log: silent, env: {} });
  const engineOf = (name: string) => table.of(sampleModel({ engine: name }));
  t.equal(engineOf('simulator'), simulator);
  t.throws(() => engineOf('c'), {
    message: 'The model acme/writer-large is unavailable: its engine is missing',
  });
  t.strictSame(table.health(), { simulator: 'ok', a: 'ok', b: 'ok' });

  const kept = engineOf('a');
  const removed = engineOf('b') as RunningEngine;
  second.script = () => undefined;
  const running = new Collected(removed);
  const request = await second.request(0);
  table.replace({ a: rowOf(first) });
  t.equal(engineOf('a'), kept);
  t.throws(() => engineOf('b'));
  request.answer('to the end');
  t.strictSame(await running.outcome(), said('to the end'));

  t.throws(() => table.replace({ b: rowOf(second), a: { ...rowOf(first), key_env: 'NO_SUCH_KEY' } }));
  t.equal(engineOf('a'), kept, 'a bad row changes nothing');
  table.replace({ a: rowOf(first, 8) });
  t.not(engineOf('a'), kept, 'a changed row is a new engine');
  await table.close();
  t.strictSame(await ask(kept as RunningEngine), {
    parts: [],
    error: ['unavailable', 'The engine was taken out of service'],
  });
  await Promise.all(engines.map((engine) => engine.close()));
});

t.test('durations and errors', async (t) => {
  t.strictSame(['500ms', '2s', '1.5m', '1h', '0s'].map(milliseconds), [500, 2000, 90_000, 3_600_000, 0]);
  t.throws(() => milliseconds('2 weeks'), {
    message: '"2 weeks" is no duration: write 500ms, 2s, 10m or 1h',
  });
  const error = new EngineError('timeout', 'm', { retry: 'never', fault: 'server' });
  t.match(error, { status: 504, name: 'EngineError', misconfigured: false });
});

t.test('rows in the forms that sluice.yaml allows', async (t) => {
  const row = { wire: 'openai', replicas: ['http://10.0.0.5:8000/v1', 'https://engine.test/v1/'] };
  const good = [
    row,
    {
      ...row,
      key_env: 'A_KEY',
      concurrency: 256,
      timeouts: { connect: '2s', first_byte: '60s', idle: '500ms', total: '10m' },
    },
    { ...row, headers: { 'X-Team': 'a' }, probe: { path: '/health', interval: '5s' }, fan_out_n: true },
    { ...row, limit_field: 'max_completion_tokens', ca_file: '/etc/ca.pem' },
  ];
  const bad = [
    { ...row, wire: '' },
    { ...row, replicas: [] },
    { ...row, replicas: ['ftp://x'] },
    { ...row, replicas: ['http://user:secret@x/v1'] },
    { ...row, replicas: ['http://x/v1?a=b'] },
    { ...row, headers: { 'X Team': 'a' } },
    { ...row, headers: { 'X-Team': 'a\r\nb' } },
    { ...row, timeouts: { idle: '2 s' } },
    { ...row, timeouts: { idle: 2 } },
    { ...row, concurrency: 0 },
    { ...row, probe: { path: 'health' } },
    { ...row, color: 'red' },
  ];
  for (const value of good) t.ok(Value.Check(EngineRow, value), JSON.stringify(value));
  for (const value of bad) t.notOk(Value.Check(EngineRow, value), JSON.stringify(value));
});
