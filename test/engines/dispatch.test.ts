/** Tests engine calls over real sockets: misbehaving engines, backpressure and teardown. */
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import t from 'tap';
import { connectionError } from '../../src/engines/engine-error.ts';
import type { ChatCall } from '../../src/ports/engines/chat.ts';
import { eventually } from '../eventually.ts';
import { ask, Collected, engineOn } from './collect.ts';
import { event, type ReceivedRequest, type Script, startScriptedEngine, token } from './scripted-engine.ts';

const text = (words: string) => ({ type: 'text', choice: 0, text: words });
const finish = { type: 'finish', choice: 0, reason: 'stop', native: 'stop' };
const hello = { parts: [text('Hello'), finish], error: undefined };
const whole = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
};

const unreachable = ['engine_unreachable', 'The engine could not be reached'];
const broke = ['engine_unreachable', 'The connection to the engine broke'];
const early = ['engine_unreachable', 'The engine ended its answer early'];
const unreadable = ['engine_unreachable', 'The engine sent an answer that cannot be read'];
const refused = ['engine_unreachable', 'The engine could not answer'];
const late = ['timeout', 'The engine did not answer in time'];

interface Misbehaviour {
  readonly name: string;
  readonly script: Script;
  readonly stream?: boolean;
  readonly parts?: readonly unknown[];
  readonly error?: readonly string[];
}

const html = '<!doctype html><html><body>Welcome</body></html>';
const ok = (type: string, body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const json =
  (status: number, value: unknown, headers?: string): Script =>
  (request) =>
    request.json(status, value, headers);

const misbehaviours: readonly Misbehaviour[] = [
  {
    name: 'garbage instead of HTTP',
    script: (request) => request.raw('\0\x01nonsense\r\n\r\n'),
    error: unreachable,
  },
  { name: 'reset before a byte', script: (request) => request.reset(), error: unreachable },
  { name: 'closed before a byte', script: (request) => void request.socket.end(), error: unreachable },
  {
    name: 'closed within the head',
    script: (request) => void request.socket.end('HTTP/1.1 200 OK\r\nco'),
    error: unreachable,
  },
  { name: 'HTML, streamed', script: (request) => request.raw(ok('text/html', html)), error: early },
  {
    name: 'HTML, whole',
    stream: false,
    script: (request) => request.raw(ok('text/html', html)),
    error: unreadable,
  },
  { name: 'nothing, streamed', script: (request) => request.raw(ok('text/event-stream', '')), error: early },
  { name: 'nothing, whole', stream: false, script: json(200, ''), error: unreadable },
  {
    name: 'no content',
    stream: false,
    script: (request) => request.raw('HTTP/1.1 204 No\r\n\r\n'),
    error: unreadable,
  },
  {
    name: 'truncated JSON',
    stream: false,
    script: json(200, '{"choices":[{"index":0,"mess'),
    error: unreadable,
  },
  {
    name: 'body shorter than promised',
    stream: false,
    script: (request) => void request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"cho'),
    error: broke,
  },
  {
    name: 'answers in one piece although a stream was asked for',
    script: json(200, whole),
    parts: [text('Hello'), finish],
  },
  {
    name: 'an error in a 200',
    stream: false,
    script: json(200, { error: { message: 'no', code: 400 } }),
    error: ['invalid_request', 'no'],
  },
  {
    name: 'an error in a 200 stream',
    script: (request) => {
      request.streamHead();
      request.chunk(event({ error: { message: 'CUDA out of memory\n at /opt/x', code: 500 } }));
      request.end();
    },
    error: ['engine_unreachable', 'CUDA out of memory'],
  },
  {
    name: 'an error after a token',
    script: (request) => {
      request.streamHead();
      request.chunk(token('Hel') + event({ error: { message: 'busy', code: 503 } }));
      request.end();
    },
    parts: [text('Hel'), ['failure', 'unavailable', 'busy']],
  },
  {
    name: 'reset in the middle of a chunk',
    script: async (request) => {
      request.streamHead();
      request.chunk(token('Hel'));
      request.raw('ff\r\ndata: {"id"');
      await eventually(() => request.socket.writableLength === 0);
      request.reset();
    },
    parts: [text('Hel'), ['failure', ...broke]],
  },
  {
    name: 'closed without an end',
    script: (request) => {
      request.streamHead();
      request.chunk(token('Hel'));
      request.socket.end();
    },
    parts: [text('Hel'), ['failure', ...broke]],
  },
  {
    name: 'ended without a finish',
    script: (request) => {
      request.streamHead();
      request.chunk(token('Hel'));
      request.end();
    },
    parts: [text('Hel'), ['failure', ...early]],
  },
  {
    name: 'broken off after everything was said',
    script: (request) => {
      request.streamHead();
      request.chunk(token('Hello') + event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      request.socket.end();
    },
    parts: [text('Hello'), finish],
  },
  {
    name: 'half chunks, half characters',
    script: async (request) => {
      const bytes = Buffer.from(
        `${token('Grüße 👋')}${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}`,
      );
      request.streamHead();
      for (const byte of bytes) {
        request.chunk(Buffer.from([byte]));
        if (byte > 127) await eventually(() => request.socket.writableLength === 0);
      }
      request.end();
    },
    parts: [text('Grüße 👋'), finish],
  },
  {
    name: 'a line of 10 MB',
    script: (request) => {
      request.streamHead();
      request.chunk(token('Hel'));
      request.chunk(`data: ${'x'.repeat(10_000_000)}\n\n`);
    },
    parts: [text('Hel'), ['failure', 'engine_unreachable', 'The engine sent an event that is too long']],
  },
  {
    name: 'a whole answer of 40 MB',
    stream: false,
    script: (request) => request.json(200, `"${'x'.repeat(40_000_000)}"`),
    error: ['engine_unreachable', 'The engine sent too long an answer'],
  },
  {
    name: '400',
    script: json(400, { error: { message: 'top_k must be -1\nfile /opt/x.py' } }),
    error: ['invalid_request', 'top_k must be -1'],
  },
  {
    name: '500 for a schema, as Ollama says it',
    script: json(500, { error: { message: 'invalid JSON schema in format', type: 'api_error' } }),
    error: ['invalid_request', 'invalid JSON schema in format'],
  },
  {
    name: '422 as FastAPI says it',
    script: json(422, { detail: [{ loc: ['body'], msg: 'field required' }] }),
    error: ['invalid_request', 'field required'],
  },
  {
    name: '400 without a word',
    stream: false,
    script: json(400, '<html>'),
    error: ['invalid_request', 'The engine refused the request'],
  },
  { name: '401', script: json(401, { error: 'Unauthorized' }), error: refused },
  { name: '403', stream: false, script: json(403, {}), error: refused },
  {
    name: '404',
    script: json(404, { object: 'error', message: 'The model `x` does not exist.' }),
    error: refused,
  },
  { name: '302', script: json(302, {}, 'location: http://169.254.169.254/\r\n'), error: refused },
  { name: '500', script: json(500, { error: { message: 'secret' } }), error: refused },
  { name: '502', stream: false, script: json(502, html), error: refused },
  { name: '429', script: json(429, {}), error: ['unavailable', 'The model is busy, try again'] },
  {
    name: '503',
    script: json(503, { error: { message: 'Loading model' } }),
    error: ['unavailable', 'The model is busy, try again'],
  },
  { name: '504', script: json(504, {}), error: late },
  {
    name: 'an error body without an end',
    script: async (request) => {
      request.raw('HTTP/1.1 500 X\r\ntransfer-encoding: chunked\r\n\r\n');
      while (!request.socket.destroyed) {
        request.chunk('x'.repeat(10_000));
        await eventually(() => request.socket.writableLength === 0 || request.socket.destroyed);
      }
    },
    error: refused,
  },
];

t.test('every engine fault gives the right failure, frees the slot, and the next call works', async (t) => {
  for (const { name, script, stream = true, parts = [], error } of misbehaviours) {
    const engine = await startScriptedEngine((request) =>
      request.number === 0 ? script(request) : request.answer(),
    );
    // With room for one call only, a slot that is not given back would show.
    const subject = engineOn([engine.url], { concurrency: 1 });
    t.strictSame(await ask(subject, { stream }), { parts, error }, name);
    t.strictSame(await ask(subject), hello, `${name}: the next call`);
    await engine.close();
    await subject.close();
  }
});

t.test('the request that the engine receives', async (t) => {
  const engine = await startScriptedEngine((request) => request.answer());
  process.env.TEST_ENGINE_KEY = 'k-1';
  const subject = engineOn([`${engine.url}/`], { key_env: 'TEST_ENGINE_KEY', headers: { 'X-Team': 'a b' } });
  await ask(subject);
  const request = await engine.request(0);
  t.match(request.head, /^POST \/v1\/chat\/completions HTTP\/1\.1\r\n/);
  for (const line of [
    'content-type: application/json',
    'authorization: Bearer k-1',
    'x-team: a b',
    'x-request-id: req-1',
    `content-length: ${Buffer.byteLength(request.body)}`,
  ]) {
    t.ok(request.head.includes(`\r\n${line}\r\n`), line);
  }
  t.match(JSON.parse(request.body), { model: 'writer-large-fp8', stream: true });
  await engine.close();
  await subject.close();
});

t.test('a body of many megabytes is sent in slices, retried elsewhere, aborted in the middle', async (t) => {
  const base64 = Buffer.alloc(6_000_000, 7).toString('base64');
  const messages: ChatCall['messages'] = [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Grüße' },
        { type: 'image', mediaType: 'image/png', base64 },
      ],
    },
  ];
  const broken = await startScriptedEngine((request) => request.json(500, {}));
  const engine = await startScriptedEngine((request) => request.answer());
  const subject = engineOn([broken.url, engine.url]);
  t.strictSame(await ask(subject, { messages }), hello);
  t.equal(broken.requests.length, 1);
  t.equal(broken.requests[0]?.body, engine.requests[0]?.body);
  const content = JSON.parse(engine.requests[0]?.body ?? '').messages[0].content;
  t.strictSame(content, [
    { type: 'text', text: 'Grüße' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } },
  ]);
  await broken.close();
  await engine.close();
  await subject.close();

  const deaf = createServer((socket) => socket.pause());
  deaf.listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  const arrival = once(deaf, 'connection');
  const other = engineOn([`http://127.0.0.1:${(deaf.address() as AddressInfo).port}/v1`]);
  const upload = new Collected(other, { messages });
  const [socket] = (await arrival) as [Socket];
  upload.subscription.unsubscribe();
  socket.on('error', () => undefined);
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
  t.ok(socket.bytesRead < base64.length, `${socket.bytesRead} bytes came before the upload was let go`);
  deaf.close();
  await other.close();
});

t.test('invalid rows are refused by name', async (t) => {
  t.throws(() => engineOn(['http://[']), { message: 'engines.pool-a.replicas[0] is no address: http://[' });
  t.throws(() => engineOn(['http://a'], { key_env: 'NO_SUCH_KEY' }), {
    message: 'engines.pool-a.key_env: the environment has no NO_SUCH_KEY',
  });
  t.throws(() => engineOn(['http://a'], { headers: { Host: 'b' } }), {
    message: 'engines.pool-a.headers: Host cannot be set',
  });
});

t.test('a sane Retry-After is passed on, any other is not', async (t) => {
  const cases = { '7': { 'retry-after': '7' }, '0': {}, '-1': {}, '99999': {}, soon: {}, '': {} };
  for (const [value, headers] of Object.entries(cases)) {
    const engine = await startScriptedEngine(json(503, {}, `retry-after: ${value}\r\n`));
    const subject = engineOn([engine.url]);
    t.strictSame((await new Collected(subject).ended)?.headers, headers, value);
    await engine.close();
    await subject.close();
  }
});

t.test('time limits', async (t) => {
  const limits = (timeouts: object) => ({
    timeouts: { connect: '5s', first_byte: '5s', idle: '5s', total: '10s', ...timeouts },
  });
  const cases: readonly (readonly [string, object, Partial<ChatCall>, Script, object])[] = [
    ['no head', { first_byte: '80ms' }, {}, () => undefined, { parts: [], error: late }],
    [
      'a head and nothing more',
      { first_byte: '80ms' },
      {},
      (request) => request.streamHead(),
      { parts: [], error: late },
    ],
    [
      'silence after a token',
      { idle: '80ms' },
      {},
      (request) => {
        request.streamHead();
        request.chunk(token('Hel'));
      },
      { parts: [text('Hel'), ['failure', ...late]], error: undefined },
    ],
    ['a stream without an end', { total: '1s' }, {}, trickle, { error: undefined }],
    [
      'a whole answer that never comes',
      { total: '800ms', first_byte: '20ms' },
      { stream: false },
      () => undefined,
      { parts: [], error: late },
    ],
    [
      'an error body that never ends',
      { first_byte: '80ms' },
      {},
      (request) => request.raw('HTTP/1.1 500 X\r\ncontent-length: 9\r\n\r\n'),
      { parts: [], error: late },
    ],
  ];
  for (const [name, timeouts, call, script, expected] of cases) {
    const engine = await startScriptedEngine(script);
    const subject = engineOn([engine.url], limits(timeouts));
    const outcome = await ask(subject, call);
    t.match(outcome, expected, name);
    if (name === 'a stream without an end') t.strictSame(outcome.parts.at(-1), ['failure', ...late]);
    await (await engine.request(0)).gone;
    await engine.close();
    await subject.close();
  }
  const patient = await startScriptedEngine(async (request) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    request.json(200, whole);
  });
  const subject = engineOn([patient.url], limits({ first_byte: '50ms', idle: '50ms' }));
  t.strictSame(
    await ask(subject, { stream: false }),
    hello,
    'a whole answer may take its time before the first byte',
  );
  await patient.close();
  await subject.close();
});

const trickle: Script = async (request) => {
  request.streamHead();
  while (!request.socket.destroyed) {
    request.chunk(token('x'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

t.test('a TLS handshake that never ends is a connect timeout', async (t) => {
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const subject = engineOn([`https://127.0.0.1:${port}/v1`], { timeouts: { connect: '100ms' } });
  t.strictSame(await ask(subject), {
    parts: [],
    error: ['timeout', 'The engine could not be reached in time'],
  });
  server.close();
  await subject.close();
});

t.test('connection refused, or unknown host', async (t) => {
  const engine = await startScriptedEngine(() => undefined);
  await engine.close();
  const subject = engineOn([engine.url]);
  t.strictSame(await ask(subject), { parts: [], error: unreachable });
  await subject.close();
  const unknown = connectionError(
    Object.assign(new Error('getaddrinfo ENOTFOUND x'), { code: 'ENOTFOUND' }),
    'waiting',
  );
  t.match(unknown, { kind: 'engine_unreachable', retry: 'elsewhere', fault: 'connection' });
});

t.test('TLS', async (t) => {
  const pem = (name: string) => new URL(`../fixtures/tls/${name}.pem`, import.meta.url);
  const tls = { key: readFileSync(pem('key')), cert: readFileSync(pem('certificate')) };
  const engine = await startScriptedEngine((request) => request.answer(), tls);
  const trusting = engineOn([engine.url], { ca_file: pem('certificate').pathname });
  t.strictSame(await ask(trusting), hello);
  const wary = engineOn([engine.url]);
  t.strictSame(await ask(wary), { parts: [], error: unreachable });
  await engine.close();
  await trusting.close();
  await wary.close();
});

t.test('chunks received together are emitted together', async (t) => {
  const engine = await startScriptedEngine((request) => {
    request.streamHead();
    const chunks = Array.from({ length: 20 }, (_, index) => token(`t${index} `));
    request.raw(chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join(''));
  });
  const subject = engineOn([engine.url]);
  const collected = new Collected(subject);
  await eventually(() => collected.parts.length === 20);
  t.equal(collected.emissions, 1);
  collected.subscription.unsubscribe();
  await engine.close();
  await subject.close();
});

t.test('a paused reader pauses the engine', async (t) => {
  const total = 24 * 1024 * 1024;
  const line = token('x'.repeat(16_000));
  let sent = 0;
  const engine = await startScriptedEngine(async (request) => {
    request.streamHead();
    while (sent < total && !request.socket.destroyed) {
      request.chunk(line);
      sent += line.length;
      if (request.socket.writableNeedDrain) await Promise.race([once(request.socket, 'drain'), request.gone]);
    }
    request.chunk('data: [DONE]\n\n');
    request.end();
  });
  const sockets: Socket[] = [];
  subscribe('net.client.socket', (message) => sockets.push((message as { socket: Socket }).socket));
  const subject = engineOn([engine.url]);
  let delivered = 0;
  let paused = 0;
  const collected = new Collected(subject, {}, (self) => {
    delivered = self.parts.length * line.length;
    if (delivered > 512 * 1024 && paused === 0) {
      paused = delivered;
      self.backpressure.pause();
    }
  });
  await eventually(() => paused > 0);
  // Held back means: no byte is read any more, however long one looks.
  let before = -1;
  let same = 0;
  await eventually(() => {
    same = sockets[0]?.bytesRead === before ? same + 1 : 0;
    before = sockets[0]?.bytesRead ?? 0;
    return same === 10;
  });
  t.equal(delivered, paused, 'nothing arrives after the pause');
  t.ok(before - delivered < 256 * 1024, `read ahead: ${before - delivered} bytes`);
  t.ok(sent < total, 'the engine could not send all');
  collected.backpressure.resume();
  t.equal(await collected.ended, undefined);
  t.equal(collected.parts.filter((part) => part.type === 'text').length, Math.ceil(total / line.length));
  await engine.close();
  await subject.close();
});

t.test('waiting for a slow reader is not the engine being idle', async (t) => {
  const engine = await startScriptedEngine((request) => {
    request.streamHead();
    request.chunk(token('Hel'));
  });
  const subject = engineOn([engine.url], { timeouts: { idle: '60ms' } });
  const collected = new Collected(subject, {}, (self) => self.backpressure.pause());
  await collected.more();
  const request = await engine.request(0);
  await new Promise((resolve) => setTimeout(resolve, 300));
  request.chunk(`${token('lo')}data: [DONE]\n\n`);
  request.end();
  collected.backpressure.resume();
  await collected.more();
  collected.backpressure.resume();
  t.match(await collected.outcome(), { parts: [text('Hello'), { type: 'finish' }], error: undefined });
  await engine.close();
  await subject.close();
});

t.test('a reader paused before the call starts paused', async (t) => {
  const engine = await startScriptedEngine((request) => request.answer());
  const subject = engineOn([engine.url]);
  const answer = new Collected(subject);
  answer.backpressure.pause();
  const request = await engine.request(0);
  await eventually(() => request.socket.writableLength === 0);
  t.strictSame(answer.parts, []);
  answer.backpressure.resume();
  t.strictSame(await answer.outcome(), hello);
  await engine.close();
  await subject.close();
});

t.test('unsubscribing aborts the engine call', async (t) => {
  const seen: ReceivedRequest[] = [];
  const engine = await startScriptedEngine((request) => void seen.push(request));
  const subject = engineOn([engine.url], { concurrency: 1 });

  new Collected(subject).subscription.unsubscribe();
  const first = new Collected(subject);
  const waiting = await engine.request(0);
  t.equal(seen.length, 1, 'left before the dial: the engine never saw it');
  first.subscription.unsubscribe();
  await waiting.gone;
  t.pass('left before the first byte');

  const second = new Collected(subject);
  const streaming = await engine.request(1);
  streaming.streamHead();
  streaming.chunk(token('Hel'));
  await second.more();
  second.subscription.unsubscribe();
  await streaming.gone;
  t.strictSame(second.parts, [{ type: 'text', choice: 0, text: 'Hel' }], 'left in the middle of a stream');

  const third = new Collected(subject, { stream: false });
  const working = await engine.request(2);
  third.subscription.unsubscribe();
  await working.gone;
  t.pass('left while a whole answer was made');

  const fourth = new Collected(subject, { stream: false });
  const answering = await engine.request(3);
  answering.raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{"ch');
  await eventually(() => answering.socket.writableLength === 0);
  fourth.subscription.unsubscribe();
  await answering.gone;
  t.pass('left while a whole answer was read');

  const paused = new Collected(subject, {}, (self) => self.backpressure.pause());
  const held = await engine.request(4);
  held.streamHead();
  held.chunk(token('Hel'));
  await paused.more();
  paused.subscription.unsubscribe();
  await held.gone;
  t.pass('left while paused');

  const nextVisit = engine.request(5);
  const last = new Collected(subject);
  (await nextVisit).answer();
  t.strictSame(await last.outcome(), hello, 'the only slot is free again');
  await engine.close();
  await subject.close();
});

t.test('the stream completes without waiting for the connection to close', async (t) => {
  const engine = await startScriptedEngine((request) => {
    request.streamHead();
    request.chunk(
      `${token('Hello')}${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`,
    );
  });
  const subject = engineOn([engine.url], { timeouts: { idle: '500ms' } });
  t.strictSame(await ask(subject), hello);
  const request = await engine.request(0);
  request.end();
  await eventually(() => request.socket.writableLength === 0);
  // The end is read and the connection returned in the next ticks of the event loop.
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(await ask(subject), hello);
  t.equal(engine.connections, 1, 'the connection was kept and used again');
  await (await engine.request(1)).gone;
  t.pass('an engine that never ends its answer is cut off in the end');
  await engine.close();
  await subject.close();
});
