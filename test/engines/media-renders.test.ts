/** Tests what becomes of the videos and songs of honest and of faulty engines. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { eventually } from '../eventually.ts';
import { startGateway } from '../gateway.ts';
import { onlyLong } from '../long.ts';
import {
  aac,
  codec,
  cut,
  film,
  h264,
  holed,
  html,
  MediaEngine,
  made,
  type SentFile,
  song,
} from './media-stand-in.ts';

const engine = await new MediaEngine().start(t);
const spec = `{ duration: { min: 4, max: 15, default: 6 }, resolutions: { 768p: { sizes: { '16:9': 1344x768 } } }, fps: 24, frame_step: 15, tiers: { turbo: { steps: 4, price: 1 } }, steps: { min: 4, max: 50, base: 10, per_price: 6 }, frame_images: [first_frame], render_time: { plain: 3, references: 5 } }`;
const gateway = await startGateway({
  catalog: `
engines:
  stand-in: { wire: openai, replicas: ['${engine.url}'] }
models:
  far/video: { kind: video, engine: stand-in, pricing: { completion: '0.1' }, supported_parameters: [duration, size, generate_audio, seed], capabilities: { video: ${spec} } }
  far/music: { kind: music, engine: stand-in, pricing: { completion: '0.1' }, capabilities: { music: { duration: { min: 3, max: 60, default: 10 }, formats: [mp3, wav, flac, opus], max_outputs: 2, streaming: { progressive: false, sample_rate: 32000, channels: 2 }, render_time: 0.5 } } }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const charges: UsageEvent[] = [];
const { usage } = gateway.ports;
const record = usage.record.bind(usage);
usage.record = (event) => {
  charges.push(event);
  return record(event);
};

interface Job {
  readonly id: string;
  readonly status: string;
  readonly error?: string;
  readonly error_code?: string;
  readonly output?: object;
  readonly outputs?: { duration: number; media_type: string; size_bytes: number }[];
  readonly unsigned_urls?: string[];
  readonly usage?: object;
}

const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };

/** The ended job, and what was charged for it. */
const render = async (path: '/videos' | '/music', file: SentFile, fields: object = {}) => {
  engine.file = file;
  charges.length = 0;
  const model = path === '/videos' ? 'far/video' : 'far/music';
  const body = JSON.stringify({ model, prompt: 'A kite', ...fields });
  const { id } = (await (await fetch(gateway.url + path, { method: 'POST', headers, body })).json()) as Job;
  const job = await eventually(async () => {
    const seen = (await (await fetch(`${gateway.url}${path}/${id}`, { headers })).json()) as Job;
    return /completed|failed/.test(seen.status) && seen;
  }, `the end of ${id}`);
  const content = await fetch(`${gateway.url}${path}/${id}/content`, { headers });
  return { job, content, bytes: Buffer.from(await content.arrayBuffer()), charged: charges.length };
};

const mp4 = [...h264, ...aac, '-f', 'mp4'];
const clip = await film([...mp4, '-movflags', '+faststart']);
const damaged = "The engine's output cannot be decoded: it is damaged, incomplete or not what it looks like";
const unknown =
  "The engine's output is not in a format that can be read: its first bytes are not those of one";

const rejectsVideos = async (t: Test, rows: readonly [string, SentFile, string][]): Promise<void> => {
  for (const [what, file, error] of rows) {
    const { job, content, charged } = await render('/videos', file);
    t.match(job, { status: 'failed', error, error_code: 'render_failed' }, what);
    t.notOk(job.usage ?? job.output ?? job.unsigned_urls, `${what}: neither output nor usage`);
    t.equal(charged, 0, `${what} is not billed`);
    t.equal(content.status, 404, `${what} is not served`);
    const line = gateway.logLines.find(
      ({ msg, job: of }) => msg === 'engine output rejected' && of === job.id,
    );
    t.match(
      line,
      { level: 40, job: job.id, engine: 'stand-in', err: { message: error } },
      `${what}: the log has the reason`,
    );
  }
};

t.test('videos that nobody could play', async (t) => {
  await rejectsVideos(t, [
    ['an HTML page that is called a video', { bytes: html, type: 'video/mp4' }, unknown],
    ['nothing', { bytes: Buffer.alloc(0), type: 'video/mp4' }, "The engine's output is empty"],
    ['an index, but half of the pictures', { bytes: cut(clip, 60) }, damaged],
    [
      'sound alone',
      { bytes: await song([...aac, '-f', 'ipod']) },
      "The engine's output has no moving picture",
    ],
  ]);
});

t.test('other videos that nobody could play', { skip: onlyLong }, async (t) => {
  await rejectsVideos(t, [
    ['an HTML page', { bytes: html, type: 'text/html' }, unknown],
    ['all but the last bytes', { bytes: cut(clip, 99) }, damaged],
    ['no index', { bytes: cut(await film(mp4), 60) }, damaged],
    [
      'fragments that end early',
      { bytes: cut(await film([...mp4, '-movflags', 'frag_keyframe+empty_moov']), 70) },
      damaged,
    ],
    ['a hole', { bytes: holed(clip) }, damaged],
    [
      'a cut WebM',
      { bytes: cut(await film(['-c:v', 'libvpx', '-b:v', '300k', '-c:a', 'libopus', '-f', 'webm']), 60) },
      "The engine's output is incomplete: it ends before its own end",
    ],
    ['a list of files', { bytes: Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n') }, unknown],
  ]);
});

t.test('a connection that is cut in the middle of a video', async (t) => {
  const { job, charged } = await render('/videos', { bytes: cut(clip, 50), length: clip.length });
  t.match(job, { status: 'failed', error_code: 'engine_unavailable' });
  t.equal(charged, 0);
});

t.test('a clip that is fine is stored as it came; its record tells what came', async (t) => {
  engine.record = { seconds: '6', output: { duration: 99, width: 1, height: 1 } };
  const { job, content, bytes, charged } = await render('/videos', { bytes: clip, type: 'text/plain' });
  t.match(job, { status: 'completed', usage: { billed_seconds: 6, cost: 0.6 } });
  t.same(job.output, { duration: 3, width: 160, height: 90, fps: 12, audio: true });
  t.equal(content.headers.get('content-type'), 'video/mp4');
  t.ok(bytes.equals(clip));
  t.equal(charged, 1);
});

t.test('clips of another container or codec are converted', { skip: onlyLong }, async (t) => {
  const rows: [string, Buffer, object, object][] = [
    [
      'WebM',
      await film(['-c:v', 'libvpx', '-b:v', '300k', '-c:a', 'libopus', '-f', 'webm']),
      {},
      { audio: true },
    ],
    ['QuickTime', await film([...h264, ...aac, '-f', 'mov']), {}, { audio: true }],
    ['MPEG-4 part 2', await film(['-c:v', 'mpeg4', ...aac, '-f', 'mp4']), {}, { audio: true }],
    ['HEVC', readFileSync(new URL('../fixtures/hevc/clip.mp4', import.meta.url)), {}, { audio: true }],
    [
      '4:4:4',
      await film([...h264.slice(0, 4), '-pix_fmt', 'yuv444p', '-f', 'mp4'], false),
      {},
      { audio: false },
    ],
    ['mono', await film([...h264, '-c:a', 'aac', '-ac', '1', '-f', 'mp4']), {}, { audio: true }],
    ['MP3 in MP4', await film([...h264, '-c:a', 'libmp3lame', '-f', 'mp4']), {}, { audio: true }],
    ['sound that was not wanted', clip, { generate_audio: false }, { audio: false }],
    ['no sound', await film([...h264, '-f', 'mp4'], false), {}, { audio: false }],
    [
      'odd sides',
      await made(['testsrc=s=161x91:r=12:d=3'], ['-c:v', 'mjpeg', '-f', 'mov']),
      {},
      { audio: false, width: 162, height: 92 },
    ],
  ];
  for (const [what, sent, fields, shown] of rows) {
    const { job, bytes, charged } = await render('/videos', { bytes: sent }, fields);
    t.equal(job.status, 'completed', `${what}: ${job.error}`);
    t.same(job.output, { duration: 3, width: 160, height: 90, fps: 12, ...shown }, what);
    const facts = await codec.probe(bytes);
    t.match(facts, { container: 'mp4', videoCodec: 'h264', pixelFormat: 'yuv420p' }, what);
    if (facts.hasAudio) t.match(facts, { audioCodec: 'aac', channels: 2 }, what);
    t.equal(charged, 1);
  }
});

const encodings = {
  mp3: ['-c:a', 'libmp3lame', '-f', 'mp3'],
  wav: ['-f', 'wav'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  opus: ['-c:a', 'libopus', '-f', 'ogg'],
};
const types = { mp3: 'audio/mpeg', wav: 'audio/wav', flac: 'audio/flac', opus: 'audio/ogg' };
const containers = { mp3: 'mp3', wav: 'wav', flac: 'flac', opus: 'ogg' };
type Format = keyof typeof encodings;
const formats = Object.keys(encodings) as Format[];
const songs = new Map(
  await Promise.all(formats.map(async (format) => [format, await song(encodings[format])] as const)),
);
const songAs = (format: Format): Buffer => songs.get(format) ?? Buffer.alloc(0);

t.test('songs that nobody could play', { skip: onlyLong }, async (t) => {
  const silent = await film([...h264, '-f', 'mp4'], false);
  const incomplete = "The engine's output is incomplete: it ends before its own end";
  for (const format of formats) {
    const whole = songAs(format);
    const rows: [string, Buffer, string | RegExp][] = [
      ['an HTML page', html, unknown],
      ['nothing', Buffer.alloc(0), "The engine's output is empty"],
      ['pictures alone', silent, "The engine's output has no sound"],
      ['a cut file', cut(whole, 60), format === 'flac' ? damaged : incomplete],
    ];
    for (const [what, bytes, error] of rows) {
      const asked = { response_format: format, duration: 3 };
      const { job, content, charged } = await render('/music', { bytes, type: types[format] }, asked);
      t.match(job, { status: 'failed', error, error_code: 'render_failed' }, `${format}: ${what}`);
      t.notOk(job.usage ?? job.outputs, `${format}: ${what} has neither output nor usage`);
      t.equal(charged, 0);
      t.equal(content.status, 404);
    }
  }
});

t.test('every format where every other was asked for', { skip: onlyLong }, async (t) => {
  for (const asked of formats)
    for (const given of formats) {
      const sent = songAs(given);
      const { job, content, bytes } = await render(
        '/music',
        { bytes: sent },
        { response_format: asked, duration: 10 },
      );
      const what = `${given} for ${asked}`;
      t.match(
        job,
        { status: 'completed', duration: 10, usage: { billed_seconds: 10 } },
        `${what}: ${job.error}`,
      );
      const [output] = job.outputs ?? [];
      t.match(output, { media_type: types[asked], size_bytes: bytes.length }, what);
      t.ok(Math.abs((output?.duration ?? 0) - 3) < 0.1, `${what}: ${output?.duration} seconds, not ten`);
      t.equal(content.headers.get('content-type'), types[asked]);
      t.match(await codec.probe(bytes), { container: containers[asked], hasAudio: true }, what);
      if (asked === given) t.ok(bytes.equals(sent), `${what} is stored as it came`);
    }
});

t.test('a WAV whose header leaves its length open gets one', async (t) => {
  const sent = await song(encodings.wav, false);
  t.equal(sent.readUInt32LE(4), 0xffff_ffff, 'as it is written to a pipe');
  const { job, bytes } = await render('/music', { bytes: sent }, { response_format: 'wav', duration: 3 });
  t.match(job, { status: 'completed', outputs: [{ duration: 3 }] }, `${job.error}`);
  t.equal(bytes.readUInt32LE(4), bytes.length - 8);
});

t.test('one bad song of two fails the job', async (t) => {
  const { job, charged } = await render('/music', { bytes: html }, { n: 2 });
  t.match(job, { status: 'failed', error: unknown });
  t.equal(charged, 0);
});

t.test('a video where a song was asked for is its sound', async (t) => {
  const { job, bytes } = await render('/music', { bytes: clip }, { duration: 3 });
  t.match(job, { status: 'completed', outputs: [{ media_type: 'audio/mpeg' }] });
  t.match(await codec.probe(bytes), { container: 'mp3', hasVideo: false });
});
