/** Tests video creation: limits, large bodies, disconnects, failing stores, ownership and races. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { fail } from '../../src/errors.ts';
import { createKeyManagement } from '../../src/keys/manage.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { dataUri, picture } from './media-samples.ts';

const spec = `{ duration: { min: 4, max: 15, default: 6 }, resolutions: { 768p: { sizes: { '16:9': 1344x768 } } }, fps: 24, frame_step: 15, tiers: { turbo: { steps: 4, price: 1 } }, steps: { min: 4, max: 50, base: 10, per_price: 6 }, frame_images: [first_frame, last_frame], references: { images: 9, videos: 3, audio: 3, total: 12 }, render_time: { plain: 3, references: 5 } }`;
const gateway = await startGateway({
  env: { SLUICE_ALLOW_PRIVATE_URLS: '1' },
  catalog: `
models:
  sluice/video: { kind: video, engine: simulator, capabilities: { video: &spec ${spec} } }
  sluice/few: { kind: video, engine: simulator, limits: { concurrency: 1, requests_per_minute: 3 }, capabilities: { video: *spec } }
`,
});
t.teardown(() => gateway.stop());
const { ports } = gateway;

const authorization = `Bearer ${gateway.key}`;
const good = { model: 'sluice/video', prompt: '/sim render=60s' };
const send = (body: object, init: RequestInit = {}) =>
  fetch(`${gateway.url}/videos`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...init,
    headers: { authorization, 'content-type': 'application/json', ...init.headers },
  });
const read = async (path: string, method = 'GET', key = gateway.key) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
};
const idOf = async (response: Response): Promise<string> => ((await response.json()) as { id: string }).id;
/** Names under which inputs were kept. */
const kept: string[] = [];
const put = ports.blobs.put.bind(ports.blobs);
ports.blobs.put = (name, bytes, options) => {
  kept.push(name);
  return put(name, bytes, options);
};
const isGone = async (name: string): Promise<boolean> => (await ports.blobs.stat(name)) === undefined;

t.test('the rate limit applies; a queued or rendering job holds no slot', async (t) => {
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    const response = await send({ ...good, model: 'sluice/few' });
    t.equal(response.status, 202, 'one at a time may be created, and any number may wait');
    ids.push(await idOf(response));
  }
  const refused = await send({ ...good, model: 'sluice/few' });
  t.equal(refused.status, 429);
  t.match(refused.headers.get('retry-after'), /^\d+$/);
  t.match(await refused.json(), { error: { code: 429, metadata: { error_type: 'rate_limit_exceeded' } } });
  for (const id of ids) await read(`/videos/${id}`, 'DELETE');
});

t.test('large media in a JSON body, in every place', async (t) => {
  const large = dataUri(Buffer.concat([await picture('png'), randomBytes(400_000)]));
  for (const media of [
    { input_reference: large },
    { input_reference: { image_url: large } },
    { frame_images: [{ type: 'image_url', image_url: { url: large }, frame_type: 'last_frame' }] },
    { input_references: [{ type: 'image_url', image_url: { url: large } }] },
  ]) {
    kept.length = 0;
    const response = await send({ ...good, ...media });
    t.equal(response.status, 202);
    const id = await idOf(response);
    t.same(kept, [`inputs/${id}/0`]);
    t.equal((await ports.blobs.stat(kept[0] ?? ''))?.mediaType, 'image/png');
    await read(`/videos/${id}`, 'DELETE');
    await eventually(() => isGone(kept[0] ?? ''));
  }
});

t.test('a large data URI in a form, as openai writes it', async (t) => {
  const form = new FormData();
  form.append('model', good.model);
  form.append('prompt', good.prompt);
  const large = dataUri(Buffer.concat([await picture('jpeg'), randomBytes(5_000_000)]));
  form.append('input_reference[image_url]', large);
  const response = await fetch(`${gateway.url}/videos`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  t.equal(response.status, 202);
  const id = await idOf(response);
  t.equal((await ports.blobs.stat(`inputs/${id}/0`))?.mediaType, 'image/jpeg');
  await read(`/videos/${id}`, 'DELETE');
});

t.test('a client that disconnects while its media are fetched', async (t) => {
  let isHeld = false;
  let isCut = false;
  const server = createServer((_, response) => {
    isHeld = true;
    response.writeHead(200).write('x');
    response.on('close', () => {
      isCut = true;
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.teardown(() => server.close());
  kept.length = 0;
  const leaving = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slow.png`;
  const sent = send(
    {
      ...good,
      input_references: [
        { type: 'image_url', image_url: { url: dataUri(await picture('png')) } },
        { type: 'image_url', image_url: { url } },
      ],
    },
    { signal: leaving.signal },
  ).catch(() => 'left');
  await eventually(() => isHeld);
  await eventually(() => kept.length === 1, 'the first to be kept');
  leaving.abort();
  t.equal(await sent, 'left');
  await eventually(() => isCut);
  await eventually(() => isGone(kept[0] ?? ''));
  t.match((await read('/videos?limit=100')).body, { has_more: false });
});

t.test('a job that cannot be created leaves no inputs', async (t) => {
  const { jobs } = ports;
  const create = jobs.create.bind(jobs);
  jobs.create = () => Promise.reject(fail('unavailable', 'The store does not answer'));
  t.teardown(() => {
    jobs.create = create;
  });
  kept.length = 0;
  const response = await send({ ...good, input_reference: dataUri(await picture('png')) });
  t.equal(response.status, 503);
  t.equal(kept.length, 1);
  await eventually(() => isGone(kept[0] ?? ''));
});

t.test('nothing billable starts while usage cannot be recorded', async (t) => {
  const { usage } = ports;
  const ensureOpen = usage.ensureOpen.bind(usage);
  usage.ensureOpen = () => {
    throw fail('unavailable', 'Usage cannot be kept');
  };
  t.teardown(() => {
    usage.ensureOpen = ensureOpen;
  });
  t.match(await (await send(good)).json(), { error: { code: 503, message: 'Usage cannot be kept' } });
});

t.test('a race is a 409 that is not retryable', async (t) => {
  const { jobs } = ports;
  const remove = jobs.remove.bind(jobs);
  jobs.remove = () => Promise.reject(fail('conflict', 'The job changed state meanwhile'));
  t.teardown(() => {
    jobs.remove = remove;
  });
  for (const path of ['/videos/video_0123456789abcdef01234567', '/music/music_0123456789abcdef01234567']) {
    const said = await read(path, 'DELETE');
    t.equal(said.headers.get('x-should-retry'), 'false');
    t.same(
      [said.status, said.body],
      [409, envelope(409, 'The job changed state meanwhile', 'invalid_request_error', 'invalid_request')],
    );
  }
});

t.test('another subscription cannot see the job', async (t) => {
  const management = createKeyManagement(ports.state);
  const other = await management.createSubscription('another');
  const { secret } = await management.createKey({ subscription: other.id });
  const id = await idOf(await send(good));
  for (const [path, method] of [
    [`/videos/${id}`, 'GET'],
    [`/videos/${id}`, 'DELETE'],
    [`/videos/${id}/content`, 'GET'],
  ] as const)
    t.match(await read(path, method, secret), { status: 404 }, `${method} ${path}`);
  t.match(await read('/videos', 'GET', secret), { body: { data: [] } });
  t.match(await read(`/videos/${id}`, 'DELETE'), { status: 200, body: { status: 'cancelled' } });
});
