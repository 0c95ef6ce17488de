/** Tests video renders on engines over HTTP: chained gateways, faulty engines and cancellation. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { wavHeaderBytes } from '../../src/music/wav.ts';
import { eventually } from '../eventually.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { clip, dataUri, picture, wav } from './media-samples.ts';

const codec = createCodec();
const inner = await startGateway();
const clips = await Promise.all([clip(1), clip(2)]);

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** An engine whose answers each test sets; it writes down what it is asked. */
const asked: string[] = [];
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
const odd = createServer(async (request, response) => {
  let body = '';
  for await (const piece of request) body += piece;
  asked.push(`${request.method} ${request.url}`);
  answer(request, response, body);
});
await new Promise<void>((ready) => odd.listen(0, '127.0.0.1', ready));

/** Two replicas that know their own jobs only. */
const created: number[] = [];
const twins = [0, 1].map((number) => {
  const id = `job-${number}`;
  return createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') created.push(number);
    else if (!request.url?.startsWith(`/v1/videos/${id}`))
      return json(response, 404, { error: 'no such job' });
    if (request.url?.endsWith('/content')) return response.end(clips[number]);
    return json(response, 200, { id, status: request.method === 'POST' ? 'queued' : 'completed' });
  });
});
for (const twin of twins) await new Promise<void>((ready) => twin.listen(0, '127.0.0.1', ready));
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

process.env.RENDER_ENGINE_KEY = inner.key;
const spec = `{ duration: { min: 4, max: 15, default: 6 }, resolutions: { 768p: { sizes: { '16:9': 1344x768, '1:1': 768x768 } } }, fps: 24, frame_step: 15, tiers: { turbo: { steps: 4, reference_steps: 8, price: 1 }, standard: { steps: 20, price: 3 } }, steps: { min: 4, max: 50, base: 10, per_price: 6 }, frame_images: [first_frame, last_frame], references: { images: 9, videos: 3, audio: 3, total: 12 }, render_time: { plain: 3, references: 5 } }`;
const outer = await startGateway({
  catalog: `
engines:
  sluice: { wire: openai, replicas: ['${inner.url}'], key_env: RENDER_ENGINE_KEY }
  odd: { wire: openai, replicas: ['${urlOf(odd)}'] }
  twins: { wire: openai, replicas: [${twins.map((twin) => `'${urlOf(twin)}'`).join(', ')}] }
models:
  far/video: { kind: video, engine: sluice, served_as: sluice/video, pricing: { completion: '0.1' }, capabilities: { video: &spec ${spec} } }
  far/music: { kind: music, engine: sluice, served_as: sluice/music, capabilities: { music: { duration: { min: 5, max: 60, default: 10 }, formats: [wav, mp3], max_outputs: 2, max_lyrics: 100, streaming: { progressive: true, sample_rate: 32000, channels: 2 }, render_time: 0.5 } } }
  odd/video: { kind: video, engine: odd, served_as: sora, supported_parameters: [duration, size, frame_images], capabilities: { video: *spec } }
  twin/video: { kind: video, engine: twins, capabilities: { video: *spec } }
`,
});
t.teardown(async () => {
  await outer.stop();
  await inner.stop();
  for (const server of [odd, ...twins]) {
    server.close();
    server.closeAllConnections();
  }
  await codec.close();
});

interface Job {
  readonly id: string;
  readonly status: string;
  readonly stream_url?: string;
  readonly unsigned_urls?: string[];
  readonly [field: string]: unknown;
}
const call = async (gateway: TestGateway, path: string, method = 'GET', body?: object) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${gateway.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Job & { data: Job[] } };
};
const create = async (path: string, body: object): Promise<Job> => {
  const said = await call(outer, path, 'POST', body);
  t.equal(said.status, 202, JSON.stringify(said.body));
  return said.body;
};
const isFinal = ({ status }: Job): boolean => /completed|failed|cancelled/.test(status);
const final = (path: string, { id }: Job): Promise<Job> =>
  eventually(async () => {
    const { body } = await call(outer, `${path}/${id}`);
    return isFinal(body) && body;
  }, `the end of ${id}`);
const bytesOf = async (url: string): Promise<Buffer> => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${outer.key}` } });
  return Buffer.from(await response.arrayBuffer());
};
const isIdle = async (): Promise<boolean> =>
  (await Promise.all(['/videos', '/music'].map((path) => call(inner, path)))).every(
    ({ body }) => body.data.length === 0,
  );

t.test('a video through two gateways', { skip: onlyLong }, async (t) => {
  const seen: Job[] = [];
  const { jobs } = inner.ports;
  const made = jobs.create.bind(jobs);
  jobs.create = async (job) => {
    seen.push({ id: job.id, status: '', call: job.call });
    return made(job);
  };
  // A picture goes on being one with something behind it; this much is sent on as bytes.
  const large = Buffer.concat([await picture('png'), randomBytes(200_000)]);
  const job = await create('/videos', {
    model: 'far/video',
    prompt: '/sim render=200ms\nTwo houses',
    duration: 4,
    size: '768x768',
    generate_audio: false,
    seed: 11,
    quality: 'standard',
    frame_images: [
      { type: 'image_url', image_url: { url: dataUri(large) }, frame_type: 'first_frame' },
      { type: 'image_url', image_url: { url: dataUri(await picture('jpeg')) }, frame_type: 'last_frame' },
    ],
  });
  const done = await final('/videos', job);
  t.match(done, {
    status: 'completed',
    output: { duration: 4.375, width: 768, height: 768, fps: 24 },
    usage: { billed_seconds: 12, cost: 1.2 },
  });
  t.match(seen[0]?.call, {
    prompt: '/sim render=200ms\nTwo houses',
    seconds: 4,
    width: 768,
    steps: 20,
    quality: 'standard',
    audio: false,
    seed: 11,
    inputs: [
      { use: 'first_frame', mediaType: 'image/png' },
      { use: 'last_frame', mediaType: 'image/jpeg' },
    ],
  });
  t.match(await codec.probe(await bytesOf(done.unsigned_urls?.[0] ?? '')), {
    width: 768,
    height: 768,
    hasAudio: false,
  });
  t.ok(await eventually(isIdle), 'the engine keeps nothing of it');

  const referring = await create('/videos', {
    model: 'far/video',
    prompt: '/sim render=0s',
    duration: 4,
    num_inference_steps: 7,
    start_time_seconds: 1.5,
    input_references: [
      { type: 'image_url', image_url: { url: dataUri(await picture('webp')) } },
      { type: 'audio_url', audio_url: { url: dataUri(wav(2)) } },
    ],
  });
  t.match(await final('/videos', referring), { status: 'completed', num_inference_steps: 7 });
  t.match(seen[1]?.call, {
    steps: 7,
    startTimeSeconds: 1.5,
    inputs: [
      { kind: 'image', use: 'reference' },
      { kind: 'audio', use: 'reference' },
    ],
  });
});

t.test('the job has the error of the engine', async (t) => {
  const failing = await create('/videos', {
    model: 'far/video',
    prompt: '/sim render=0s fail=content_policy@0%',
  });
  t.match(await final('/videos', failing), {
    status: 'failed',
    error: 'Simulated failure content_policy',
    error_code: 'content_policy',
  });
});

t.test('a cancelled render is cancelled on the engine too', async (t) => {
  const job = await create('/videos', { model: 'far/video', prompt: '/sim render=60s' });
  const innerJobs = async () => (await call(inner, '/videos')).body.data;
  await eventually(async () => (await innerJobs()).some(({ status }) => status === 'in_progress'));
  t.match(await call(outer, `/videos/${job.id}`, 'DELETE'), { status: 200, body: { status: 'cancelled' } });
  await eventually(async () => (await innerJobs()).every(isFinal));
  const there = await innerJobs();
  t.ok(there.some(({ status }) => status === 'cancelled'));
  for (const { id } of there) await call(inner, `/videos/${id}`, 'DELETE');
});

t.test('songs through two gateways, streamed while they render', { skip: onlyLong }, async (t) => {
  const job = await create('/music', {
    model: 'far/music',
    prompt: '/sim render=1s\nslow',
    duration: 6,
    n: 2,
    response_format: 'wav',
    lyrics: 'la',
  });
  const heard = await Promise.all([0, 1].map((index) => bytesOf(`${job.stream_url}?index=${index}`)));
  const done = await final('/music', job);
  t.equal(done.status, 'completed', JSON.stringify(done));
  const stored = await Promise.all((done.unsigned_urls ?? []).map(bytesOf));
  t.equal(stored.length, 2);
  for (const [index, song] of stored.entries())
    t.ok(heard[index]?.subarray(wavHeaderBytes).equals(song.subarray(wavHeaderBytes)), `song ${index}`);
  t.notOk(stored[0]?.equals(stored[1] ?? Buffer.alloc(0)), 'two different songs');
  t.ok(await eventually(isIdle), 'the engine keeps nothing of them');
});

t.test('an engine with minimal responses', async (t) => {
  let sent = '';
  let looks = 0;
  answer = (request, response, body) => {
    if (request.method === 'POST') sent = body;
    if (request.url?.endsWith('/content')) return response.end(clips[0]);
    if (request.method === 'DELETE') return json(response, 200, { id: 'v 1', deleted: true });
    // Once it does not answer, and once what it answers is nothing.
    if (request.method === 'GET' && ++looks === 2) return request.socket.destroy();
    if (request.method === 'GET' && looks === 3) return response.end('{');
    return json(response, 200, {
      id: 'v 1',
      object: 'video',
      status: looks > 3 ? 'completed' : 'queued',
      seconds: '4',
    });
  };
  asked.length = 0;
  const job = await create('/videos', {
    model: 'odd/video',
    prompt: 'A door',
    seconds: '4',
    input_reference: dataUri(await picture('png')),
  });
  const done = await final('/videos', job);
  t.match(
    done,
    { status: 'completed', output: { duration: 1, width: 32, height: 32, fps: 8, audio: false } },
    'what came, not what was asked for',
  );
  t.ok((await bytesOf(done.unsigned_urls?.[0] ?? '')).equals(clips[0] ?? Buffer.alloc(0)));
  const { input_reference, ...fields } = JSON.parse(sent);
  t.same(
    fields,
    { model: 'sora', prompt: 'A door', seconds: '4', size: '1344x768' },
    'only what the model takes',
  );
  t.match(input_reference, { image_url: /^data:image\/png;base64,/ });
  await eventually(() => asked.at(-1) === 'DELETE /v1/videos/v%201');
  t.equal(asked[0], 'POST /v1/videos');
  t.ok(asked.includes('GET /v1/videos/v%201/content'));
});

t.test('requests about a job go to the replica that has it', { skip: onlyLong }, async (t) => {
  const jobs = await Promise.all(
    [1, 2, 3, 4].map((seed) => create('/videos', { model: 'twin/video', prompt: 'x', seed })),
  );
  for (const job of jobs) {
    const done = await final('/videos', job);
    t.equal(done.status, 'completed', JSON.stringify(done));
    const bytes = await bytesOf(done.unsigned_urls?.[0] ?? '');
    t.ok(clips.some((one) => one.equals(bytes)));
  }
  t.same([...created].sort(), [0, 0, 1, 1], 'both were used');
});

t.test('engines that refuse', async (t) => {
  const rows: [(response: ServerResponse) => void, object][] = [
    [
      (response) => json(response, 400, { error: { message: 'prompt is not allowed' } }),
      { status: 'failed', error: 'prompt is not allowed', error_code: 'render_failed' },
    ],
    [
      (response) => json(response, 404, { detail: 'Not Found' }),
      { status: 'failed', error_code: 'engine_unavailable' },
    ],
    [
      (response) =>
        json(response, 200, {
          id: 'v',
          status: 'failed',
          error: { code: 'out_of_memory', message: 'No room' },
        }),
      { status: 'failed', error: 'No room', error_code: 'out_of_memory' },
    ],
    [
      (response) =>
        json(response, 200, { id: 'v', status: 'failed', error: { code: 'weird', message: 'Odd' } }),
      { status: 'failed', error: 'Odd', error_code: 'render_failed' },
    ],
    [
      (response) => json(response, 200, { id: 'v', status: 'cancelled' }),
      { status: 'failed', error: "The engine's job is cancelled", error_code: 'render_failed' },
    ],
  ];
  for (const [refuse, shown] of rows) {
    answer = (_request, response) => refuse(response);
    const job = await create('/videos', { model: 'odd/video', prompt: 'x' });
    t.match(await final('/videos', job), shown);
  }
});

t.test('an engine that is busy at first', async (t) => {
  let creations = 0;
  answer = (request, response) => {
    if (request.url?.endsWith('/content')) return response.end(clips[0]);
    if (request.method === 'POST' && ++creations === 1)
      return json(response, 503, { error: { message: 'busy' } });
    return json(response, 200, { id: 'v', status: 'completed', seconds: '6' });
  };
  const job = await create('/videos', { model: 'odd/video', prompt: 'x' });
  t.match(await final('/videos', job), { status: 'completed' });
  t.equal(creations, 2);
});

t.test('a job cancelled before the engine responds is aborted on its response', async (t) => {
  let late: (() => void) | undefined;
  answer = (request, response) => {
    if (request.method === 'DELETE') return json(response, 200, { id: 'late', status: 'cancelled' });
    late = () => json(response, 200, { id: 'late', status: 'queued' });
  };
  asked.length = 0;
  const job = await create('/videos', { model: 'odd/video', prompt: 'x' });
  await eventually(() => late, 'the engine is asked');
  t.match(await call(outer, `/videos/${job.id}`, 'DELETE'), { status: 200 });
  late?.();
  await eventually(() => asked.at(-1) === 'DELETE /v1/videos/late');
});
