/** Tests `GET /live`: snapshots of what runs, once for all who listen. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import type { LivePart, LiveSnapshot } from '../../schemas/admin/live.ts';
import { serveApi } from '../../src/admin/http-api.ts';
import { snapshotOf } from '../../src/admin/live.ts';
import { mergedParts } from '../../src/admin/resources/live.ts';
import type { AdminApi, AdminReply } from '../../src/admin/route.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf, adminToken } from './client.ts';

/** Events of a stream, as they arrive, until the test ends. */
const listen = async (t: Test, url: string, query = '') => {
  const abort = new AbortController();
  const leave = () => abort.abort();
  t.teardown(leave);
  const response = await fetch(`${url}/admin/v1/live${query}`, {
    headers: { authorization: `Bearer ${adminToken}` },
    signal: abort.signal,
  });
  const snapshots: LiveSnapshot[] = [];
  let ended = false;
  const read = async (): Promise<void> => {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const [, data = ''] = /^event: snapshot\ndata: (.*)$/.exec(event) ?? [];
        snapshots.push(JSON.parse(data));
      }
    }
  };
  if (response.status === 200)
    read()
      .catch(() => undefined)
      .finally(() => {
        ended = true;
      });
  return { response, snapshots, leave, ended: () => ended };
};

t.test('requests, models and engines are seen as they run', async (t) => {
  const server = await startSimulatorServer();
  const gateway = await startGateway({
    env: adminEnv,
    catalog: `
engines:
  pool: { wire: openai, replicas: ['${server.url}'] }
models:
  a/chat: { engine: pool, served_as: simulator, context_length: 65536, pricing: { prompt: '1', completion: '1' } }
`,
  });
  t.teardown(async () => {
    await gateway.stop();
    await server.close();
  });
  const url = String(gateway.adminUrl);
  const { response, snapshots } = await listen(t, url, '?interval=250');
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  const first = await eventually(() => snapshots[0], 'the first snapshot');
  t.strictSame(
    { ...first, time: 0, engines: first.engines.map(({ id }) => id) },
    {
      ...{ object: 'live.snapshot', time: 0, interval_ms: 250, processes: 1 },
      counts: { receiving: 0, queued: 0, running: 0, streaming: 0, slow_readers: 0 },
      ...{ tokens_per_second: null, models: [], engines: ['simulator', 'pool'], requests: [] },
      ...{ ended: [], ended_count: 0 },
    },
  );
  const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: 'a/chat',
    stream: true,
    messages: [{ role: 'user', content: '/sim tokens=60 rate=60/s\nGo on.' }],
  });
  for await (const _ of stream);
  const seen = await eventually(
    () => snapshots.find(({ requests }) => (requests[0]?.tokens_per_second ?? 0) > 0),
    'a stream with its rate',
  );
  t.match(seen, {
    ...{ counts: { streaming: 1, slow_readers: 0 }, tokens_per_second: Number },
    models: [{ id: 'a/chat', engine: 'pool', streaming: 1, tokens_per_second: Number }],
    requests: [{ model: 'a/chat', engine: 'pool', replica: 'pool/0', attempts: 1, state: 'streaming' }],
  });
  const engine = seen.engines.find(({ id }) => id === 'pool');
  t.match(engine, { health: 'ok', replicas: [{ circuit: 'closed', in_flight: 1, share: 1 }], problems: [] });
  t.ok((engine?.tokens_per_second ?? 0) > 0 && (engine?.tokens_per_second ?? 0) < 400);
  const last = await eventually(() => snapshots.find(({ ended_count }) => ended_count > 0), 'its end');
  t.match(last, {
    ended: [{ object: 'request.ended', status: 200, model: 'a/chat', replica: 'pool/0', attempts: 1 }],
  });
  t.equal(
    snapshots.reduce((sum, { ended_count }) => sum + ended_count, 0),
    1,
    'it ended once',
  );

  const call = adminOf(gateway);
  t.equal((await call('GET', '/live?interval=249')).body.error.param, 'interval');
  t.equal((await call('GET', '/live?interval=10001')).body.error.param, 'interval');
  t.equal((await call('GET', '/live', undefined, { authorization: 'Bearer nothing' })).status, 401);
});

t.test('a client that does not read is a slow reader', async (t) => {
  const gateway = await startGateway({
    env: adminEnv,
    catalog: `
models:
  a/chat: { engine: simulator, context_length: 4000000, pricing: { prompt: '1', completion: '1' } }
`,
  });
  t.teardown(() => gateway.stop());
  const { hostname, port } = new URL(gateway.url);
  const body = JSON.stringify({
    model: 'a/chat',
    stream: true,
    max_tokens: 1_000_000,
    messages: [{ role: 'user', content: '/sim tokens=1000000 rate=max\nGo on.' }],
  });
  const socket = connect(Number(port), hostname, () =>
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    ),
  );
  socket.pause();
  t.teardown(() => socket.destroy());
  const { snapshots } = await listen(t, String(gateway.adminUrl), '?interval=250');
  const seen = await eventually(
    () => snapshots.find(({ counts }) => counts.slow_readers === 1),
    'backpressure',
  );
  t.match(seen.requests, [{ slow_reader: true, unread_bytes: Number, state: 'streaming' }]);
});

const part = (more: Partial<LivePart> = {}): LivePart => ({
  ...{ time: 1000, processes: 1, models: [], engines: [], requests: [], ended: [], ended_count: 0 },
  counts: { receiving: 0, queued: 0, running: 0, streaming: 0, slow_readers: 0 },
  cursor: '1:0',
  ...more,
});

const model = (id: string, tokens: number, streaming = 0) => ({
  ...{ id, engine: 'pool', receiving: 0, queued: 0, running: 0, streaming, slow_readers: 0, tokens },
});

t.test('rates are of what was generated in between', async (t) => {
  const before = part({ models: [model('a', 100), model('b', 50, 1)] });
  const after = part({ time: 3000, models: [model('a', 200), model('b', 40, 1), model('c', 9)] });
  const snapshot = snapshotOf(after, before, 2000);
  t.equal(snapshot.tokens_per_second, 49.5);
  t.strictSame(
    snapshot.models.map(({ id, tokens_per_second }) => [id, tokens_per_second]),
    [
      ['a', 50],
      ['b', 0],
      ['c', 4.5],
    ],
    'an estimate that fell is no negative rate',
  );
  t.equal(snapshotOf(after, undefined, 2000).tokens_per_second, null);
  t.strictSame(
    snapshotOf({ ...after, cursor: '1:0,2:0' }, before, 2000).tokens_per_second,
    null,
    'another process: what it had generated before is not known',
  );
});

t.test('what several processes say becomes one, within its bounds', async (t) => {
  const row = (id: number) => ({ id: `req_${id}`, age_ms: id }) as LivePart['requests'][number];
  const end = (time: number) => ({ time }) as LivePart['ended'][number];
  const rows = Array.from({ length: 200 }, (_, index) => index);
  const one = part({
    models: [model('a', 10, 1)],
    requests: rows.map((index) => row(index * 2)),
    ended: rows.map((index) => end(index * 2)),
    ended_count: 900,
    cursor: '1:900',
  });
  const two = part({
    models: [model('a', 5, 2), model('b', 1)],
    requests: rows.map((index) => row(index * 2 + 1)),
    ended: rows.map((index) => end(index * 2 + 1)),
    ended_count: 300,
    cursor: '2:300',
  });
  const both = mergedParts([one, two]);
  t.match(both, { processes: 2, ended_count: 1200, cursor: '1:900,2:300' });
  t.strictSame(both.models, [model('a', 15, 3), model('b', 1)]);
  t.strictSame(
    both.requests.map(({ age_ms }) => age_ms),
    rows,
    'the newest',
  );
  t.strictSame(
    both.ended.map(({ time }) => time),
    rows.map((index) => index + 200),
    'the last',
  );
});

/** The port with an API of ours. */
const serve = async (t: Test, api: AdminApi): Promise<string> => {
  const handle = serveApi(api);
  const server = createServer(
    (request, response) => void handle(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const ok = (value: unknown): AdminReply => ({ status: 200, headers: {}, body: JSON.stringify(value) });

t.test(
  'a snapshot is made once for all with the same interval, and for nobody when all have left',
  async (t) => {
    let made = 0;
    const url = await serve(t, async ({ query }) => {
      if (query.includes('after=')) made++;
      return ok(part({ time: Date.now() }));
    });
    const clients = await Promise.all(Array.from({ length: 8 }, () => listen(t, url, '?interval=250')));
    await eventually(() => clients.every(({ snapshots }) => snapshots.length >= 4), 'snapshots for all');
    const [first] = clients;
    t.ok(made <= (first?.snapshots.length ?? 0) + 1, `${made} made`);
    const times = new Set(first?.snapshots.slice(1).map(({ time }) => time));
    t.ok(
      clients.every(({ snapshots }) => times.has(snapshots[3]?.time ?? 0)),
      'the same for all',
    );
    for (const { leave } of clients) leave();
    let last = -1;
    await eventually(async () => {
      const same = made === last;
      last = made;
      await new Promise((resolve) => setTimeout(resolve, 600));
      return same && made === last;
    }, 'no more are made');
  },
);

t.test('a reader that is behind misses snapshots: none are queued', async (t) => {
  let made = 0;
  const padding = 'x'.repeat(2_000_000);
  const url = await serve(t, async () => {
    made++;
    return ok(part({ time: made, cursor: '1:0', models: [{ ...model(padding, 0, 1) }] }));
  });
  const { hostname, port } = new URL(url);
  let bytes = 0;
  const socket = connect(Number(port), hostname, () =>
    socket.write('GET /admin/v1/live?interval=250 HTTP/1.1\r\nhost: x\r\n\r\n'),
  );
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.pause();
  t.teardown(() => socket.destroy());
  await eventually(() => made >= 12, 'time passes');
  const before = made;
  socket.resume();
  await eventually(() => made >= before + 2, 'it reads again');
  t.ok(bytes > 0 && bytes < (made - 5) * padding.length, `${bytes} bytes of ${made} snapshots`);
});

t.test('at most 16 clients listen; one whose token was revoked is let go', async (t) => {
  let isRevoked = false;
  const url = await serve(t, async () =>
    isRevoked ? { status: 401, headers: {}, body: '{}' } : ok(part({ time: Date.now() })),
  );
  const clients = await Promise.all(Array.from({ length: 16 }, () => listen(t, url, '?interval=250')));
  const refused = await listen(t, url);
  t.equal(refused.response.status, 503);
  t.match(await refused.response.json(), {
    error: { message: 'At most 16 clients can listen to what runs' },
  });
  clients[0]?.leave();
  const another = await eventually(async () => {
    const next = await listen(t, url, '?interval=250');
    if (next.response.status === 200) return next;
    await next.response.text();
    return false;
  }, 'there is room for another');
  isRevoked = true;
  await eventually(() => another.ended() && clients.every(({ ended }) => ended()), 'all have ended');
});
