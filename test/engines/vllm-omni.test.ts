/** Tests the rows of the vLLM-Omni guide against a stand-in that takes what the real server takes. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { createCodec } from '../../src/codec/codec.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import { dataUri, picture } from '../videos/media-samples.ts';
import { VllmOmni } from './vllm-omni-stand-in.ts';

const codec = createCodec();
const film = await new VllmOmni(codec, 'film').start(t);
const voice = await new VllmOmni(codec, 'voice').start(t);

/** The rows of the guide, on the stand-ins' addresses. */
const guide = readFileSync(new URL('../../docs/engines.md', import.meta.url), 'utf8');
const rows = /^## vLLM-Omni$[\s\S]*?^```yaml\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? '';
const gateway = await startGateway({
  catalog: `${rows.replace(/http:\/\/\S+:8091\/v1/, film.url).replace(/http:\/\/\S+:8092\/v1/, voice.url)}
  both/frames:
    kind: video
    engine: omni-video
    served_as: film
    capabilities: { video: { asked_by: vllm, duration: { min: 1, max: 5, default: 1 }, resolutions: { s: { sizes: { '1:1': 64x64 } } }, fps: 12, frame_step: 1, tiers: { turbo: { steps: 4, price: 1 } }, steps: { min: 1, max: 50, base: 4, per_price: 4 }, frame_images: [first_frame, last_frame], references: { images: 2, videos: 1, audio: 1, total: 3 }, render_time: { plain: 1, references: 1 } } }
  plain/film:
    kind: video
    engine: omni-video
    served_as: film
    capabilities: { video: { duration: { min: 1, max: 5, default: 1 }, resolutions: { s: { sizes: { '1:1': 64x64 } } }, fps: 12, frame_step: 1, tiers: { turbo: { steps: 4, price: 1 } }, steps: { min: 1, max: 50, base: 4, per_price: 4 }, frame_images: [], render_time: { plain: 1, references: 1 } } }
`,
  env: { POOL_A_KEY: 'secret' },
});
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const authorization = `Bearer ${gateway.key}`;
const post = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface Job {
  readonly id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

const render = async (body: object): Promise<Job> => {
  const response = await post('/videos', body);
  t.equal(response.status, 202);
  const { id } = (await response.json()) as Job;
  return eventually(async () => {
    const found = await fetch(`${gateway.url}/videos/${id}`, { headers: { authorization } });
    const job = (await found.json()) as Job;
    return /completed|failed/.test(job.status) && job;
  }, `the end of ${id}`);
};

const lastJob = () => [...film.jobs.values()].at(-1);

t.test('a video of the guide: the form, the file, and the job removed', async (t) => {
  const seen: unknown[] = [];
  film.jobs.set = (id, job) => {
    seen.push(job.fields);
    return Map.prototype.set.call(film.jobs, id, job) as typeof film.jobs;
  };
  const job = await render({
    model: 'acme/film',
    prompt: 'Two "houses"\r\n--x',
    duration: 1,
    seed: 7,
    quality: 'standard',
  });
  t.match(job, { status: 'completed', output: { duration: 1, width: 832, height: 480 } });
  t.same(seen, [
    {
      model: 'film',
      prompt: 'Two "houses"\r\n--x',
      seconds: '1',
      size: '832x480',
      num_inference_steps: '40',
      fps: '24',
      seed: '7',
    },
  ]);
  const content = await fetch(`${gateway.url}/videos/${job.id}/content`, { headers: { authorization } });
  const facts = await codec.probe(Buffer.from(await content.arrayBuffer()));
  t.match(facts, { container: 'mp4', width: 832, height: 480, hasAudio: false });
  await eventually(() => film.jobs.size === 0, 'the job is deleted on the engine');
});

t.test('frames and references are files', { skip: onlyLong }, async (t) => {
  const [png, jpeg] = [await picture('png'), await picture('jpeg')];
  const sent: (readonly [string, Buffer])[][] = [];
  film.jobs.set = (id, job) => {
    sent.push(job.files.map(({ field, bytes }) => [field, bytes] as const));
    return Map.prototype.set.call(film.jobs, id, job) as typeof film.jobs;
  };
  const frame = (bytes: Buffer, frame_type: string) => ({
    type: 'image_url',
    image_url: { url: dataUri(bytes) },
    frame_type,
  });
  const common = { model: 'both/frames', prompt: 'Frames', generate_audio: true };
  t.match(await render({ ...common, frame_images: [frame(png, 'first_frame')] }), { status: 'completed' });
  t.match(await render({ ...common, frame_images: [frame(jpeg, 'last_frame'), frame(png, 'first_frame')] }), {
    status: 'completed',
  });
  const references = [png, jpeg].map((bytes) => ({ type: 'image_url', image_url: { url: dataUri(bytes) } }));
  t.match(await render({ ...common, input_references: references }), { status: 'completed' });
  t.same(sent, [
    [['input_reference', png]],
    [
      ['input_references', png],
      ['input_references', jpeg],
    ],
    [
      ['input_references', png],
      ['input_references', jpeg],
    ],
  ]);
  t.match(await render({ ...common, frame_images: [frame(png, 'last_frame')] }), {
    status: 'failed',
    error_code: 'invalid_input_media',
    error: 'The engine of this model takes a last frame only together with a first one',
  });
});

t.test('a job that fails is reported with an error status, and ends at once', async (t) => {
  film.failure = { code: 500, message: 'CUDA out of memory' };
  const begun = Date.now();
  t.match(await render({ model: 'acme/film', prompt: 'Doomed', duration: 1 }), {
    status: 'failed',
    error_code: 'render_failed',
    error: 'CUDA out of memory',
  });
  t.ok(Date.now() - begun < 15_000, 'not polled for half a minute');
  t.ok(film.polled.includes(500));
  film.failure = null;
  t.match(await render({ model: 'acme/film', prompt: 'Fine', duration: 1 }), { status: 'completed' });
  t.notOk(gateway.logLines.some(({ msg }) => msg === 'replica ejected'));
});

t.test('without asked_by the server sees JSON, and refuses', async (t) => {
  t.match(await render({ model: 'plain/film', prompt: 'JSON', duration: 1 }), { status: 'failed' });
  t.equal(lastJob(), undefined);
});

t.test('speech is requested as raw audio', async (t) => {
  const response = await post('/audio/speech', {
    model: 'acme/voice',
    input: 'Hello',
    response_format: 'pcm',
    temperature: 0.7,
  });
  t.equal(response.status, 200);
  t.equal((await response.arrayBuffer()).byteLength, 48_000);
  t.same(voice.spoken, [
    {
      model: 'voice',
      input: 'Hello',
      task_type: 'CustomVoice',
      voice: 'vivian',
      response_format: 'pcm',
      language: 'Auto',
      extra_params: { temperature: 0.7 },
      stream: true,
      stream_format: 'audio',
    },
  ]);
});
