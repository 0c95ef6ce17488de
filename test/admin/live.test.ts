/** Tests what operators see of running requests and engines, and what they can do to them. */
import { createInterface } from 'node:readline/promises';
import { Readable } from 'node:stream';
import OpenAI from 'openai';
import t, { type Test } from 'tap';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { Deliveries } from '../../src/webhooks/deliveries.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { adminEnv, adminOf, adminToken, refusal } from './client.ts';

const [one, two] = await Promise.all([startSimulatorServer(), startSimulatorServer()]);
const gateway = await startGateway({
  env: adminEnv,
  catalog: `
engines:
  pool: { wire: openai, replicas: ['${one.url}', '${two.url}'], balance: least-busy }
models:
  a/chat: { engine: simulator, context_length: 65536, pricing: { prompt: '0.1', completion: '0.2' } }
  a/narrow: { engine: simulator, context_length: 65536, limits: { concurrency: 1, requests_per_minute: 100 } }
  a/pooled: { engine: pool, context_length: 65536, served_as: simulator }
  a/video:
    kind: video
    engine: simulator
    capabilities: { video: {
      duration: { min: 4, max: 15, default: 6 }, resolutions: { 768p: { sizes: { '16:9': 1344x768 } } },
      fps: 24, frame_step: 15, tiers: { turbo: { steps: 4, price: 1 }, standard: { steps: 20, price: 3 }, max: { steps: 40, price: 5 } }, steps: { min: 4, max: 50, base: 10, per_price: 6 },
      frame_images: [], references: { images: 1, videos: 1, audio: 1, total: 1 }, render_time: { plain: 3, references: 5 } } }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await Promise.all([one.close(), two.close()]);
});
const call = adminOf(gateway);
const client = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });

const slow = (model: string, headers: Record<string, string> = {}) =>
  client.chat.completions.create(
    { model, stream: true, messages: [{ role: 'user', content: '/sim tokens=4000 rate=50/s\nGo on.' }] },
    { headers },
  );

type Found = { readonly id: string; readonly state: string; readonly completion_tokens: number };

const running = async (query: string): Promise<readonly Found[]> =>
  (await call('GET', `/requests?${query}`)).body.data;

const only = (query: string, fits: (found: Found) => boolean): Promise<Found> =>
  eventually(async () => {
    const [found] = await running(query);
    return found !== undefined && fits(found) && found;
  }, query);

const ended = async (stream: AsyncIterable<unknown>): Promise<string> => {
  try {
    for await (const _ of stream);
    return 'well';
  } catch (error) {
    return (error as Error).message;
  }
};

const usageOf = (id: string) =>
  eventually(async () => {
    const { body } = await call('GET', '/usage?group_by=request');
    return body.data.find((row: { request_id: string }) => row.request_id === id);
  }, `usage of ${id}`);

t.test('a stream is seen with its tokens, and cancelled as a failure', async (t) => {
  const stream = await slow('a/chat');
  const end = ended(stream);
  const found = await only('model=a/chat', ({ completion_tokens }) => completion_tokens > 0);
  t.match(found, {
    ...{ object: 'request', process: process.pid, method: 'POST', route: '/chat/completions' },
    ...{ model: 'a/chat', subscription: 'sub_default', key: /^key_/, state: 'streaming', replica: null },
    ...{ queue_ms: 0, age_ms: Number, prompt_tokens: Number, first_token_ms: Number, engine: 'simulator' },
    ...{ attempts: 0, continuations: 0, slow_reader: false, unread_bytes: 0 },
    timeline: { received: 0, parsed: Number, admitted: Number, engine_called: null, engine_answered: null },
  });
  const { timeline } = found as unknown as { timeline: Record<string, number | null> };
  const { parsed, admitted, first_byte, first_token, billed, last_byte } = timeline;
  t.ok(Number(parsed) <= Number(admitted) && Number(admitted) <= Number(first_token));
  t.type(first_byte, 'number');
  t.strictSame([billed, last_byte], [null, null]);
  t.match((await call('GET', `/requests/${found.id}`)).body, { id: found.id, state: 'streaming' });
  t.match((await call('GET', '/status')).body, {
    ...{ object: 'status', ready: true, unready: [], models: 4, engines: { up: 2, down: [] } },
    ...{ public_url: gateway.url, problems: [] },
    services: { redis: false, kafka: false, clickhouse: false, qdrant: false, s3: false },
    ...{ requests: { queued: 0, streaming: 1 }, processes: [{ pid: process.pid }] },
  });
  t.strictSame(await call('POST', `/requests/${found.id}/cancel`), {
    status: 200,
    etag: null,
    body: { id: found.id, object: 'request', cancelled: true },
  });
  t.match(await end, /The request was cancelled by an operator/);
  t.match(await usageOf(found.id), { outcome: 'failed', status: 503, cost: '0' });
  t.equal((await call('POST', `/requests/${found.id}/cancel`)).status, 404);
  t.match((await call('GET', '/audit?limit=1')).body.data, [
    { action: 'request.cancel', target: found.id, before: { model: 'a/chat', route: '/chat/completions' } },
  ]);
});

t.test('one that waits is seen in its queue, and refused when it is cancelled', async (t) => {
  const first = ended(await slow('a/narrow'));
  const second = slow('a/narrow').then(ended, (error: Error) => error.message);
  const queued = await only('state=queued', () => true);
  t.match(queued, { model: 'a/narrow', subscription: 'sub_default', state: 'queued', completion_tokens: 0 });
  await call('POST', `/requests/${queued.id}/cancel`);
  t.equal(await second, '503 The request was cancelled by an operator');
  const [left] = await running('model=a/narrow');
  await call('POST', `/requests/${left?.id}/cancel`);
  t.match(await first, /cancelled by an operator/);
});

t.test('a resumable stream without a client is seen, and cancelled', async (t) => {
  const stream = await slow('a/chat', { 'sluice-resumable': '60' });
  for await (const _ of stream) break;
  stream.controller.abort();
  const found = await only('model=a/chat', ({ state }) => state === 'streaming');
  await eventually(async () => gateway.ports.streams.stats().detached === 1, 'the client is gone');
  t.match((await call('GET', `/requests/${found.id}`)).body, { route: '/chat/completions', model: 'a/chat' });
  t.equal((await call('POST', `/requests/${found.id}/cancel`)).status, 200);
  t.match(await usageOf(found.id), { outcome: 'failed', cost: '0' });
  t.strictSame(await running('model=a/chat'), []);
});

t.test('a drained replica gets no more calls', async (t) => {
  const ask = () =>
    client.chat.completions.create({ model: 'a/pooled', messages: [{ role: 'user', content: 'Hello' }] });
  const engine = async () => (await call('GET', '/engines/pool')).body;
  const prefix = { blocks: 0, matched: 0, hit_rate: null };
  const replica = (server: { url: string }, index: number) => ({
    ...{ url: server.url, alias: `pool/${index}`, circuit: 'closed', open_since: null, cooldown_ms: 0 },
    ...{ last_error: null, in_flight: 0, drained: false, weight: 1, share: 1, prefix },
  });
  const whole = {
    ...{ id: 'pool', object: 'engine', health: 'ok', waiting: 0, discovery: null },
    ...{ retries: { made: 0, refused: 0 }, continuations: { made: 0, failed: 0 }, prefix },
    ...{ replicas: [replica(one, 0), replica(two, 1)], problems: [], models: ['a/pooled'] },
    row: {
      ...{ wire: 'openai', replicas: [one.url, two.url], balance: 'least-busy', slow_start: '30s' },
      ...{ limit_field: 'max_tokens', fan_out_n: false, continues: false },
      timeouts: { connect: '2s', first_byte: '60s', idle: '30s', total: '10m' },
      retries: { attempts: 3, backoff: '0ms', max_backoff: '2s', budget: 0.2, budget_min: 10 },
      circuit_breaker: {
        ...{ connection_failures: 2, server_failures: 5, cooldown: '500ms', max_cooldown: '30s' },
      },
      queue: { length: 1000, wait: '30s' },
    },
  };
  t.strictSame(await engine(), whole);
  t.strictSame(
    (await call('GET', '/engines')).body.data.map(({ id }: { id: string }) => id),
    ['simulator', 'pool'],
  );
  const running = ended(await slow('a/pooled'));
  const busy = await eventually(
    async () => (await engine()).replicas.find((each: { in_flight: number }) => each.in_flight === 1),
    'the call runs',
  );
  const [shown] = (await call('GET', '/requests?model=a/pooled')).body.data;
  t.match(shown, { engine: 'pool', attempts: 1, replica: busy.alias });
  t.ok(shown.timeline.engine_called >= shown.timeline.admitted);
  const drained = await call('POST', '/engines/pool/drain', { replica: busy.url });
  t.strictSame(drained.body.problems, [
    `Replica ${busy.alias} (${busy.url}) was drained by an operator and gets no calls`,
  ]);
  t.match(
    drained.body.replicas.find(({ url }: { url: string }) => url === busy.url),
    {
      ...{ drained: true, in_flight: 1 },
    },
  );
  for (let each = 0; each < 3; each++) await ask();
  const other = busy.url === one.url ? two : one;
  t.equal((await call('POST', '/engines/pool/drain', { replica: other.url })).body.health, 'down');
  await t.rejects(ask(), { message: /^503 / });
  t.equal((await call('POST', '/engines/pool/undrain', { replica: other.url })).body.health, 'ok');
  await ask();
  await call('POST', '/engines/pool/undrain', { replica: busy.url });
  const [found] = (await call('GET', '/requests?model=a/pooled')).body.data;
  await call('POST', `/requests/${found.id}/cancel`);
  await running;
  await eventually(async () =>
    (await engine()).replicas.every((each: { in_flight: number }) => each.in_flight === 0),
  );
  t.strictSame(await engine(), whole);
  t.equal((await call('POST', '/engines/pool/drain', { replica: 'http://none' })).status, 404);
  t.equal((await call('POST', '/engines/none/drain', { replica: 'http://none' })).status, 404);
  t.equal((await call('POST', '/engines/pool/drain', {})).body.error.param, 'replica');
});

t.test('models, and reading the catalog again', async (t) => {
  const { body } = await call('GET', '/models?limit=1');
  t.match(body, { object: 'list', has_more: true, first_id: 'a/chat' });
  t.match(body.data, [
    { object: 'model', id: 'a/chat', kind: 'chat', engine: 'simulator', health: 'ok', context_length: 65536 },
  ]);
  t.strictSame(await call('POST', '/catalog/reload'), {
    ...{ status: 200, etag: null, body: { object: 'catalog', models: 4 } },
  });
});

t.test('jobs are listed and cancelled', async (t) => {
  const response = await fetch(`${gateway.url}/videos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'a/video', prompt: '/sim render=60s\nA river' }),
  });
  const { id } = (await response.json()) as { id: string };
  const listed = (await call('GET', '/jobs?type=video&subscription=sub_default')).body;
  t.match(listed, { object: 'list', has_more: false, first_id: id });
  t.match(listed.data, [{ object: 'job', id, type: 'video', model: 'a/video', subscription: 'sub_default' }]);
  t.notOk(JSON.stringify(listed).includes('A river'), 'prompts are the clients own');
  t.equal((await call('POST', `/jobs/${id}/cancel`)).body.status, 'cancelled');
  t.equal((await call('POST', `/jobs/${id}/cancel`)).status, 409);
  t.match((await call('GET', `/jobs/${id}`)).body, { id, status: 'cancelled', cost: null });
  t.strictSame(await call('GET', '/jobs/video_none'), {
    status: 404,
    etag: null,
    body: refusal(404, 'not_found_error', 'not_found', 'There is no job video_none'),
  });
  t.equal((await call('GET', '/jobs?type=song')).body.error.param, 'type');
});

t.test('webhook deliveries are listed without their bodies, and sent again', async (t) => {
  t.strictSame((await call('GET', '/deliveries')).body.data, []);
  const [id, job, type] = ['video_1-completed', 'video_1', 'video.generation.completed'];
  const url = 'https://127.0.0.1:1/hook';
  await new Deliveries(gateway.ports.state).add({
    ...{ id, job, type, url, subscription: 'sub_default', body: 'private' },
  });
  const { body } = await call('GET', '/deliveries?subscription=sub_default');
  t.match(body, { object: 'list', first_id: id, has_more: false });
  t.match(body.data, [{ object: 'delivery', id, job, type, url, subscription: 'sub_default' }]);
  t.notMatch(JSON.stringify(body), 'private');
  const resent = await call('POST', `/deliveries/${id}/resend`);
  t.match([resent.status, resent.body], [200, { object: 'delivery', id, status: 'waiting', tries: 0 }]);
  t.match((await call('GET', '/audit?limit=1')).body.data, [
    {
      action: 'delivery.resend',
      target: id,
      subscription: 'sub_default',
      after: { status: 'waiting', tries: 0 },
    },
  ]);
  t.equal((await call('POST', `/deliveries/${id}/resend`, undefined, { 'if-match': '"old"' })).status, 412);
  t.equal((await call('POST', '/deliveries/none/resend')).status, 404);
});

const lines = async (t: Test, path: string) => {
  const abort = new AbortController();
  t.teardown(() => abort.abort());
  const response = await fetch(`${gateway.adminUrl}/admin/v1${path}`, {
    headers: { authorization: `Bearer ${adminToken}` },
    signal: abort.signal,
  });
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  body.on('error', () => undefined);
  return createInterface({ input: body })[Symbol.asyncIterator]();
};

t.test('requests that ended are logged, and followed', async (t) => {
  const before = (await call('GET', '/logs?limit=1000')).body;
  t.match(before.data[0], {
    ...{ object: 'request.ended', process: process.pid, method: 'POST', route: '/chat/completions' },
    ...{ model: 'a/chat', subscription: 'sub_default', status: 200, cut: null, cost: '0' },
  });
  const followed = await lines(t, '/logs?follow=true&limit=1');
  t.equal(JSON.parse((await followed.next()).value).id, before.data.at(-1).id);
  await client.chat.completions.create({ model: 'a/chat', messages: [{ role: 'user', content: 'Hello' }] });
  const entry = JSON.parse((await followed.next()).value);
  t.match(entry, { status: 200, model: 'a/chat', completion_tokens: Number, total_ms: Number });
  t.ok(entry.completion_tokens > 0 && entry.cost !== '0');
  t.match(entry.timeline, { received: 0, parsed: Number, admitted: Number, first_byte: Number });
  t.ok(entry.timeline.billed <= entry.timeline.last_byte && entry.timeline.first_token > 0);
  t.equal(entry.first_token_ms, entry.timeline.first_token);
  const after = (await call('GET', `/logs?after=${before.cursor}`)).body;
  t.strictSame(
    after.data.map(({ id }: { id: string }) => id),
    [entry.id],
  );
  t.equal((await call('GET', '/logs?after=x')).body.error.param, 'after');
});
