/** Tests the video routes over a real socket: life cycle of a job, output and SDKs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { VideoJob, VideoList, VideoModels } from '../../schemas/videos.ts';
import { createCodec } from '../../src/codec/codec.ts';
import { startGateway } from '../gateway.ts';
import { jobClient, type ShownJob } from '../jobs/job-client.ts';
import { onlyLong } from '../long.ts';
import { thrownBy } from '../thrown-by.ts';
import { clip, dataUri, mp3, picture, wav } from './media-samples.ts';

const gateway = await startGateway({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
const codec = createCodec();
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const model = 'sluice/video';
const headers = { authorization: `Bearer ${gateway.key}` };
const isJob = Compile(VideoJob);
const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const router = new OpenRouter({ serverURL: gateway.url, apiKey: gateway.key });

const { call, create, until, final } = jobClient(t, gateway, { path: '/videos', model, job: VideoJob });
const download = async (url: string): Promise<Buffer> =>
  Buffer.from(await (await fetch(url, { headers })).arrayBuffer());

t.test('from the request to the file', async (t) => {
  const job = await create({ prompt: '/sim render=100ms\nA heron takes off', duration: '4', seed: 7 });
  t.match(job.id, /^video_[0-9a-f]{24}$/);
  const shown = {
    id: job.id,
    object: 'video',
    model,
    status: 'pending',
    polling_url: `${gateway.url}/videos/${job.id}`,
    progress: 0,
    queue_position: 0,
    created_at: job.created_at,
    started_at: null,
    completed_at: null,
    expires_at: null,
    prompt: '/sim render=100ms\nA heron takes off',
    seconds: '4',
    duration: 4,
    size: '1344x768',
    resolution: '768p',
    aspect_ratio: '16:9',
    quality: 'turbo',
    num_inference_steps: 4,
    seed: 7,
    generate_audio: true,
    remixed_from_video_id: null,
    generation_id: job.generation_id,
  };
  t.same(job, shown);

  const done = await final(job.id);
  const { queue_position: _, ...rest } = shown;
  t.same(done, {
    ...rest,
    status: 'completed',
    progress: 100,
    started_at: done.started_at,
    completed_at: done.completed_at,
    expires_at: done.expires_at,
    output: { duration: 4.375, width: 1344, height: 768, fps: 24, audio: true },
    unsigned_urls: [`${gateway.url}/videos/${job.id}/content?index=0`],
    usage: { billed_seconds: 4, cost: 0.16, is_byok: false },
  });
  t.ok(isJob.Check(done));
  t.ok(Number(done.expires_at) > Number(done.completed_at));

  const url = done.unsigned_urls?.[0] ?? '';
  const response = await fetch(url, { headers });
  t.equal(response.headers.get('content-type'), 'video/mp4');
  const bytes = Buffer.from(await response.arrayBuffer());
  t.equal(response.headers.get('content-length'), String(bytes.length));
  t.match(await codec.probe(bytes), {
    container: 'mp4',
    hasVideo: true,
    hasAudio: true,
    channels: 2,
    width: 1344,
    height: 768,
  });
  t.ok(Math.abs((await codec.probe(bytes)).seconds - 4.4) < 0.1);

  const part = await fetch(url, { headers: { ...headers, range: 'bytes=4-7' } });
  t.equal(part.status, 206);
  t.equal(part.headers.get('content-range'), `bytes 4-7/${bytes.length}`);
  t.equal(await part.text(), 'ftyp');
  t.equal((await fetch(url, { headers: { ...headers, range: `bytes=${bytes.length}-` } })).status, 416);
  const head = await fetch(url, { method: 'HEAD', headers });
  t.equal(head.headers.get('content-length'), String(bytes.length));
  t.equal((await fetch(url)).status, 401, 'the key is needed');
  t.match(await call(`/videos/${job.id}/content?index=1`), { status: 404 });

  t.same(await call(`/videos/${job.id}`, 'DELETE'), {
    status: 200,
    body: { id: job.id, object: 'video.deleted', deleted: true },
  });
  t.match(await call(`/videos/${job.id}`), { status: 404 });
  t.match(await call(`/videos/${job.id}/content`), { status: 404 });
});

t.test('sizes, silence and frames are in the output', { skip: onlyLong }, async (t) => {
  const job = await create({
    prompt: '/sim render=0s\nfrom red to green',
    duration: 4,
    size: '768x768',
    generate_audio: false,
    quality: 'medium',
    frame_images: [
      {
        type: 'image_url',
        image_url: { url: dataUri(await picture('png', '#ff0000')) },
        frame_type: 'first_frame',
      },
      {
        type: 'image_url',
        image_url: { url: dataUri(await picture('webp', '#00ff00')) },
        frame_type: 'last_frame',
      },
    ],
    input_references: [{ type: 'video_url', video_url: { url: 'https://127.0.0.1:1/never-read.mp4' } }],
  });
  const done = await final(job.id);
  t.match(done, {
    status: 'completed',
    aspect_ratio: '1:1',
    quality: 'standard',
    num_inference_steps: 20,
    generate_audio: false,
    usage: { billed_seconds: 12, cost: 0.48 },
  });
  const bytes = await download(done.unsigned_urls?.[0] ?? '');
  t.match(await codec.probe(bytes), { hasAudio: false, width: 768, height: 768 });
  const corner = async (at: string): Promise<number[]> => {
    const { firstValueFrom, reduce } = await import('rxjs');
    const { Backpressure } = await import('../../src/ports/backpressure.ts');
    const png = await firstValueFrom(
      codec
        .convert(
          bytes,
          {
            arguments: ['-ss', at, '-frames:v', '1', '-f', 'image2pipe', '-c:v', 'png'],
            maxBytes: 1e7,
            timeoutMs: 30_000,
          },
          new Backpressure(),
        )
        .pipe(reduce((all, piece) => Buffer.concat([all, piece]), Buffer.alloc(0))),
    );
    return [
      ...(await sharp(png).extract({ left: 2, top: 2, width: 1, height: 1 }).removeAlpha().raw().toBuffer()),
    ];
  };
  const [red = 0, green = 0] = await corner('0');
  t.ok(red > 200 && green < 60, `begins red: ${red} ${green}`);
  const [redLast = 0, greenLast = 0] = await corner('4.2');
  t.ok(greenLast > 180 && redLast < 60, `ends green: ${redLast} ${greenLast}`);
});

t.test(
  'references are fetched, probed, kept until the end, and double the turbo steps',
  { skip: onlyLong },
  async (t) => {
    const files: Record<string, Buffer> = {
      '/a.jpg': await picture('jpeg'),
      '/b.mov': await clip(3, 'mov'),
      '/c.mp3': await mp3(3),
      '/d.wav': wav(2),
    };
    const server = createServer((request, response) => response.end(files[request.url ?? '']));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    t.teardown(() => server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const job = await create({
      prompt: '/sim render=0s',
      start_time_seconds: 1.5,
      duration: 4,
      provider: { order: ['acme'], options: { num_inference_steps: '8' } },
      input_references: [
        { type: 'image_url', image_url: { url: `${base}/a.jpg` } },
        { type: 'video_url', video_url: { url: `${base}/b.mov` }, role: 'reference' },
        { type: 'audio_url', audio_url: { url: `${base}/c.mp3` } },
        { type: 'audio_url', audio_url: { url: `${base}/d.wav` }, role: null },
      ],
    });
    t.match(job, { num_inference_steps: 8, quality: 'turbo' });
    const done = await final(job.id);
    t.match(done, { status: 'completed', usage: { billed_seconds: 4 } });
  },
);

t.test('settings: the first form given wins, tiers have their own names', async (t) => {
  const rows: [object, object][] = [
    [{ quality: 'high' }, { quality: 'max', num_inference_steps: 40 }],
    [{ quality: 'auto' }, { quality: 'turbo', num_inference_steps: 4 }],
    [{ quality: 'low', provider: { options: { quality: 'max' } } }, { quality: 'turbo' }],
    [{ provider: { options: { quality: 'standard', sluice: { quality: 'max' } } } }, { quality: 'standard' }],
    [{ provider: { options: { sluice: { quality: 'max' } } } }, { quality: 'max' }],
    [
      { provider: { options: { sluice: { parameters: { num_inference_steps: 19 } } } } },
      { quality: 'custom', num_inference_steps: 19 },
    ],
    [{ provider: { sort: 'price', only: ['x'], options: null } }, { quality: 'turbo' }],
    [{ num_inference_steps: '20' }, { quality: 'standard', num_inference_steps: 20 }],
    [
      { num_inference_steps: 9, resolution: '2K' },
      { quality: 'turbo', size: '2688x1536', resolution: '2K' },
    ],
    [
      { duration: 5, seconds: 99 },
      { duration: 5, seconds: '5' },
    ],
    [{ seconds: '15' }, { duration: 15, seconds: '15' }],
    [{}, { duration: 6, seconds: '6' }],
    [{ seed: '42', user: 'me', session_id: 's', trace: {} }, { seed: 42 }],
    [
      { generate_audio: null, duration: null, frame_images: [], input_reference: null },
      { generate_audio: true, duration: 6 },
    ],
    [{ prompt: '' }, { prompt: '' }],
  ];
  for (const [body, shown] of rows) {
    // Each waits long enough to be cancelled before it renders.
    const job = await create({ prompt: '/sim render=60s', ...body });
    t.match(job, shown, JSON.stringify(body));
    const cancelled = await call(`/videos/${job.id}`, 'DELETE');
    t.match(cancelled, { status: 200, body: { id: job.id, status: 'cancelled' } });
    t.notOk('usage' in cancelled.body, 'not billed');
  }
});

t.test('progress, queue, failure', async (t) => {
  const jobs = await Promise.all([1, 2, 3, 4].map((seed) => create({ prompt: `/sim render=60s`, seed })));
  const started = await until(jobs[0]?.id ?? '', 'in_progress');
  t.notOk('queue_position' in started);
  t.type(started.started_at, 'number');
  t.match(await call(`/videos/${started.id}/content`), {
    status: 409,
    body: {
      error: { code: 409, type: 'invalid_request_error', metadata: { error_type: 'invalid_request' } },
    },
  });
  const [, , third, fourth] = await Promise.all(
    jobs.map(async ({ id }) => (await call(`/videos/${id}`)).body),
  );
  t.match([third, fourth], [{ status: 'pending' }, { status: 'pending' }]);
  t.equal(Number(fourth?.queue_position) - Number(third?.queue_position), 1);
  for (const { id } of jobs) await call(`/videos/${id}`, 'DELETE');

  const failing = await create({ prompt: '/sim render=50ms fail=content_policy@50%' });
  const failed = await final(failing.id);
  t.match(failed, {
    status: 'failed',
    error: 'Simulated failure content_policy',
    error_code: 'content_policy',
  });
  t.notOk('usage' in failed);
  t.match(await call(`/videos/${failing.id}/content`), { status: 404 });
  const retold = await openai.videos.retrieve(failing.id);
  t.match(retold, {
    status: 'failed',
    error: { code: 'content_policy', message: 'Simulated failure content_policy' },
  });
});

t.test('openai', async (t) => {
  const created = await openai.videos.create({
    model,
    prompt: '/sim render=300ms\nA paper boat',
    seconds: '4',
    size: '768x1344' as never,
    input_reference: await toFile(await picture('png'), 'frame.png', { type: 'image/png' }),
  });
  t.match(created, { status: 'queued', seconds: '4', size: '768x1344', error: null });
  t.match(
    (await call(`/videos/${created.id}`)).body.status,
    /^(pending|in_progress)$/,
    'plain clients read their own word',
  );

  const begun = await openai.videos.create({
    model,
    prompt: '/sim render=100ms',
    seconds: '4',
    input_reference: { image_url: dataUri(await picture('jpeg')) },
  });
  // The polling helper of the Python client: it waits on these two words and takes every other for an end.
  let polled = begun;
  for (let left = 600; left > 0 && /^(queued|in_progress)$/.test(polled.status); left--) {
    await new Promise((done) => setTimeout(done, 50));
    polled = await openai.videos.retrieve(begun.id);
  }
  t.match(polled, { status: 'completed', progress: 100 });
  const content = await openai.videos.downloadContent(polled.id, { variant: 'video' });
  t.equal(content.headers.get('content-type'), 'video/mp4');
  t.match(await codec.probe(new Uint8Array(await content.arrayBuffer())), { width: 1344, hasAudio: true });

  const listed: string[] = [];
  for await (const video of openai.videos.list({ limit: 2 })) listed.push(video.id);
  t.ok(listed.includes(created.id) && listed.includes(polled.id));
  t.same([...new Set(listed)], listed, 'every job once, over several pages');
  t.same(await openai.videos.delete(polled.id), { id: polled.id, object: 'video.deleted', deleted: true });
  t.match(await thrownBy(openai.videos.retrieve(polled.id)), { status: 404 });
  t.match(await thrownBy(openai.videos.create({ model, prompt: 'x', seconds: '7s' as never })), {
    status: 400,
    message: '400 seconds must be an integer',
  });
});

t.test('@openrouter/sdk', async (t) => {
  const models = await router.videoGeneration.listVideosModels();
  t.match(models, { data: [{ id: model, supportedSizes: ['1344x768'], generateAudio: true, seed: true }] });
  const job = await router.videoGeneration.generate({
    videoGenerationRequest: {
      model,
      prompt: '/sim render=0s',
      duration: 4,
      aspectRatio: '9:16',
      resolution: '768p',
      generateAudio: false,
    },
  });
  t.match(job, { status: 'pending', pollingUrl: `${gateway.url}/videos/${job.id}` });
  await final(job.id);
  const done = await router.videoGeneration.getGeneration({ jobId: job.id });
  t.match(done, { status: 'completed', unsignedUrls: [`${gateway.url}/videos/${job.id}/content?index=0`] });
  const stream = await router.videoGeneration.getVideoContent({ jobId: job.id });
  const bytes = Buffer.from(await new Response(stream as ReadableStream).arrayBuffer());
  t.match(await codec.probe(bytes), { width: 768, height: 1344, hasAudio: false });
  const refused = router.videoGeneration.generate({
    videoGenerationRequest: { model, prompt: 'x', duration: 3 },
  });
  t.match(await thrownBy(refused), { statusCode: 400 });
});

t.test('the AI SDK renders and polls', async (t) => {
  const provider = createOpenRouter({ baseURL: gateway.url, apiKey: gateway.key });
  const video = provider.videoModel(model, { pollIntervalMs: 50 });
  const made = await video.doGenerate({
    prompt: '/sim render=0s',
    n: 1,
    aspectRatio: '1:1',
    resolution: '768x768',
    duration: 4,
    seed: 3,
    fps: undefined,
    image: undefined,
    frameImages: undefined,
    inputReferences: undefined,
    generateAudio: undefined,
    providerOptions: {},
  });
  t.match(made.videos, [{ type: 'url', mediaType: 'video/mp4' }]);
  t.match(made.providerMetadata, { openrouter: { cost: 0.16 } });
});

t.test('lists', async (t) => {
  const isList = Compile(VideoList);
  const page = (await call('/videos?limit=2')).body as unknown as {
    data: ShownJob[];
    last_id: string;
    first_id: string;
    has_more: boolean;
  };
  t.ok(isList.Check(page), JSON.stringify(isList.Errors(page)));
  t.match(page, { object: 'list', has_more: true, first_id: page.data[0]?.id, last_id: page.data[1]?.id });
  const next = (await call(`/videos?limit=2&after=${page.last_id}`)).body as unknown as typeof page;
  t.ok(next.data.length > 0 && !next.data.some(({ id }) => page.data.some((job) => job.id === id)));
  const back = (await call(`/videos?limit=2&before=${next.first_id}`)).body as unknown as typeof page;
  t.same(
    back.data.map(({ id }) => id),
    page.data.map(({ id }) => id),
  );
  const oldest = (await call('/videos?limit=1&order=asc')).body as unknown as typeof page;
  t.ok(Number(oldest.data[0]?.created_at) <= Number(page.data[0]?.created_at));
  const models = (await call('/videos/models')).body;
  t.ok(Compile(VideoModels).Check(models));
});
