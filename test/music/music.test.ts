/** Tests the music routes over a real socket: validation, job life cycle, formats and streaming. */
import t from 'tap';
import { Compile } from 'typebox/compile';
import { MusicJob, MusicList, MusicModels } from '../../schemas/music.ts';
import { createCodec } from '../../src/codec/codec.ts';
import { wavHeader, wavHeaderBytes } from '../../src/music/wav.ts';
import { startGateway } from '../gateway.ts';
import { jobClient } from '../jobs/job-client.ts';

const gateway = await startGateway({
  catalog: `
models:
  sluice/music:
    kind: music
    engine: simulator
    pricing: { completion: '0.002' }
    per_request_limits: { max_prompt_length: 100 }
    capabilities: { music: &spec { duration: { min: 2, max: 60, default: 10 }, formats: [mp3, wav, flac, opus], max_outputs: 2, max_lyrics: 50, streaming: { progressive: true, sample_rate: 32000, channels: 2 }, render_time: 0.5 } }
  sluice/instrumental: { kind: music, engine: simulator, capabilities: { music: { duration: { min: 2, max: 60, default: 10 }, formats: [wav], max_outputs: 1, streaming: { progressive: false, sample_rate: 32000, channels: 2 }, render_time: 0.5 } } }
  sluice/bare: { kind: music, engine: simulator }
  sluice/chat: { engine: simulator, context_length: 4096 }
`,
});
const codec = createCodec();
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const model = 'sluice/music';
const headers = { authorization: `Bearer ${gateway.key}` };
const isJob = Compile(MusicJob);

const { call, create, final } = jobClient(t, gateway, { path: '/music', model, job: MusicJob });
const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer());

t.test('refusals', async (t) => {
  const good = { model, prompt: 'calm piano' };
  const rows: [object, number, string, string?][] = [
    [{ model: undefined }, 400, 'model is required'],
    [{ model: 'acme/none' }, 404, 'No model named "acme/none"', 'not_found'],
    [
      { model: 'sluice/chat' },
      404,
      '"sluice/chat" is of kind chat; this route takes models of kind music',
      'not_found',
    ],
    [
      { model: 'sluice/bare' },
      503,
      'The model sluice/bare is not served: it has no valid capability spec',
      'provider_overloaded',
    ],
    [{ prompt: undefined }, 400, 'prompt is required'],
    [{ prompt: 7 }, 400, 'prompt must be a string'],
    [{ prompt: 'x'.repeat(101) }, 400, 'prompt must have at most 100 characters'],
    [{ lyrics: 7 }, 400, 'lyrics must be a string'],
    [{ lyrics: 'x'.repeat(51) }, 400, 'lyrics must have at most 50 characters'],
    [{ duration: 1 }, 400, 'duration must be between 2 and 60'],
    [{ duration: '61' }, 400, 'duration must be between 2 and 60'],
    [{ duration: 2.5 }, 400, 'duration must be an integer'],
    [{ response_format: 'aac' }, 400, 'response_format must be one of "mp3", "wav", "flac", "opus"'],
    [{ response_format: 1 }, 400, 'response_format must be a string'],
    [{ n: 0 }, 400, 'n must be between 1 and 2'],
    [{ n: 3 }, 400, 'n must be between 1 and 2'],
    [{ seed: 'x' }, 400, 'seed must be an integer'],
    [{ callback_url: 'http://example.com' }, 400, 'callback_url must be an https URL on a public host'],
    [{ size: '1x1' }, 400, 'size is not taken by model sluice/music', 'unsupported_parameter'],
    [{ seconds: 5 }, 400, 'seconds is not taken by model sluice/music', 'unsupported_parameter'],
    [
      { model: 'sluice/instrumental', lyrics: 'la' },
      400,
      'lyrics is not taken by this model',
      'unsupported_parameter',
    ],
    [
      { provider: { options: { tempo: 90 } } },
      400,
      'provider.options.tempo is not an option of this model',
      'unsupported_parameter',
    ],
    [{ provider: { options: { n: 9 } } }, 400, 'provider.options.n must be between 1 and 2'],
  ];
  for (const [change, status, message, kind = 'invalid_request'] of rows)
    t.match(
      await call('/music', 'POST', { ...good, ...change }),
      { status, body: { error: { code: status, message, metadata: { error_type: kind } } } },
      message,
    );
  const id = 'music_0123456789abcdef01234567';
  for (const [path, status, method = 'GET'] of [
    ['/music/music_1', 404],
    [`/music/${id}`, 404],
    [`/music/${id}`, 404, 'DELETE'],
    [`/music/${id}/content`, 404],
    [`/music/${id}/content?index=x`, 400],
    [`/music/${id}/stream`, 404],
    [`/music/${id}/stream?index=-1`, 400],
    ['/music?limit=101', 400],
  ] as const)
    t.match(await call(path, method), { status }, path);
  t.equal((await fetch(`${gateway.url}/music/${id}/stream`)).status, 401);
});

t.test('from the request to the songs', async (t) => {
  const prompt = '/sim render=100ms\nslow waltz';
  const job = await create({
    prompt,
    lyrics: 'la la',
    duration: 8,
    n: 2,
    seed: '5',
    provider: { options: { response_format: 'flac' } },
  });
  t.match(job.id, /^music_[0-9a-f]{24}$/);
  t.same(job, {
    id: job.id,
    object: 'music',
    model,
    status: 'pending',
    polling_url: `${gateway.url}/music/${job.id}`,
    progress: 0,
    queue_position: 0,
    created_at: job.created_at,
    started_at: null,
    completed_at: null,
    expires_at: null,
    prompt,
    lyrics: 'la la',
    duration: 8,
    response_format: 'flac',
    n: 2,
    seed: 5,
    stream_url: `${gateway.url}/music/${job.id}/stream`,
  });
  const done = await final(job.id);
  t.ok(isJob.Check(done), JSON.stringify(isJob.Errors(done)));
  t.notOk('stream_url' in done);
  t.match(done, { status: 'completed', progress: 100, usage: { billed_seconds: 16, cost: 0.032 } });
  t.same(
    done.unsigned_urls,
    [0, 1].map((index) => `${gateway.url}/music/${job.id}/content?index=${index}`),
  );
  for (const output of done.outputs ?? []) {
    const response = await fetch(output.url, { headers });
    t.equal(response.headers.get('content-type'), 'audio/flac');
    const bytes = await bytesOf(response);
    t.equal(bytes.length, output.size_bytes);
    const facts = await codec.probe(bytes);
    t.match(facts, { container: 'flac', sampleRate: 32_000, channels: 2 });
    t.ok(output.duration <= 8 && Math.abs(facts.seconds - output.duration) < 0.01);
  }
  t.match(await call(`/music/${job.id}/content?index=2`), { status: 404 });
  t.same(await call(`/music/${job.id}`, 'DELETE'), {
    status: 200,
    body: { id: job.id, object: 'music.deleted', deleted: true },
  });
  t.match(await call(`/music/${job.id}`), { status: 404 });
});

t.test('every format', async (t) => {
  const rows = [
    ['mp3', 'audio/mpeg', 'mp3'],
    ['wav', 'audio/wav', 'wav'],
    ['opus', 'audio/ogg', 'ogg'],
  ] as const;
  await Promise.all(
    rows.map(async ([response_format, type, container]) => {
      const { id } = await create({ prompt: '/sim render=0s', duration: 3, response_format });
      const [output] = (await final(id)).outputs ?? [];
      t.equal(output?.media_type, type);
      const response = await fetch(output?.url ?? '', { headers });
      t.equal(response.headers.get('content-type'), type);
      const facts = await codec.probe(await bytesOf(response));
      t.match(facts, { container, channels: 2 });
      t.ok(Math.abs(facts.seconds - (output?.duration ?? 0)) < 0.2, `${container}: ${facts.seconds} s`);
    }),
  );
});

t.test('a song heard while it renders is the song that is stored', async (t) => {
  const { id, stream_url = '' } = await create({
    prompt: '/sim render=1s',
    duration: 6,
    response_format: 'wav',
    seed: 1,
  });
  const response = await fetch(stream_url, { headers });
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'audio/wav');
  t.equal(response.headers.get('content-length'), null, 'its real length is not known');
  const heard = await bytesOf(response);
  const header = wavHeader({ sampleRate: 32_000, channels: 2, dataBytes: 6 * 32_000 * 4 });
  t.same(heard.subarray(0, wavHeaderBytes), header, 'the sizes promise what was asked for');
  const done = await final(id);
  const stored = await bytesOf(await fetch(done.outputs?.[0]?.url ?? '', { headers }));
  t.ok(heard.subarray(wavHeaderBytes).equals(stored.subarray(wavHeaderBytes)));
  t.ok(stored.length < heard.readUInt32LE(40), 'it ends with a bar, before the promised length');

  const late = await bytesOf(await fetch(`${gateway.url}/music/${id}/stream?index=0`, { headers }));
  t.ok(late.equals(heard), 'who comes late hears it from the start');
  t.match(await call(`/music/${id}/stream?index=1`), { status: 404 });
});

t.test('streams that end early, and those that are not to be had', async (t) => {
  const { id, stream_url = '' } = await create({ prompt: '/sim render=30s', duration: 20 });
  const response = await fetch(stream_url, { headers });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  t.ok((first?.value?.length ?? 0) > 0, 'the header is there at once');
  t.match(await call(`/music/${id}`, 'DELETE'), { status: 200, body: { status: 'cancelled' } });
  let ended = false;
  for (let left = 10_000; left > 0 && !ended; left--) ended = (await reader?.read())?.done === true;
  t.ok(ended, 'the response ends with the song');

  const silent = await create({ model: 'sluice/instrumental', prompt: '/sim render=30s' });
  t.notOk('stream_url' in silent);
  const refused = await fetch(`${gateway.url}/music/${silent.id}/stream`, { headers });
  t.equal(refused.status, 409);
  t.equal(refused.headers.get('x-should-retry'), 'false');
  t.match(await call(`/music/${silent.id}/content`), { status: 409 });
  await call(`/music/${silent.id}`, 'DELETE');
  t.match(
    await call(`/music/${silent.id}/stream`),
    {
      status: 409,
      body: { error: { message: `The model of ${silent.id} does not stream: read its content instead` } },
    },
    'nor once it has ended',
  );
});

t.test('failures, lists and models', async (t) => {
  const { id } = await create({ prompt: '/sim render=0s fail=out_of_memory@100%' });
  t.match(await final(id), {
    status: 'failed',
    error: 'Simulated failure out_of_memory',
    error_code: 'out_of_memory',
  });
  const unreadable = await create({ prompt: '/sim tempo=fast' });
  t.match(await final(unreadable.id), { status: 'failed', error_code: 'render_failed' });
  const list = (await call('/music?limit=3')).body;
  t.ok(Compile(MusicList).Check(list), JSON.stringify(Compile(MusicList).Errors(list)));
  t.match(list, { has_more: true });
  t.same((await call('/videos')).body.data, []);
  const models = (await call('/music/models')).body;
  t.ok(Compile(MusicModels).Check(models));
  t.match(models, {
    data: [
      { id: model, lyrics: true, streaming: { progressive: true, sample_rate: 32_000, channels: 2 } },
      { id: 'sluice/instrumental', lyrics: false, streaming: { progressive: false } },
    ],
  });
});
