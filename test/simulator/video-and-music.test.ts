/** Tests simulated videos and songs: determinism, pace, cancellation, backpressure and HTTP routes. */
import OpenAI, { toFile } from 'openai';
import { EMPTY, filter, firstValueFrom, lastValueFrom, type Observable, of, toArray } from 'rxjs';
import t from 'tap';
import type { Model } from '../../schemas/catalog.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { createCodec } from '../../src/codec/codec.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import {
  type MusicCall,
  type RenderCall,
  RenderError,
  type RenderEvent,
  type RenderFlow,
  type RenderOutput,
  type VideoCall,
} from '../../src/ports/engines/render.ts';
import { madePieces } from '../../src/simulator/renders/made-pieces.ts';
import { renderSamples, sampleCount } from '../../src/simulator/renders/music-samples.ts';
import { composeSong } from '../../src/simulator/renders/music-score.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import type { Clock } from '../../src/simulator/ticker.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { picture } from '../videos/media-samples.ts';

const codec = createCodec();
t.teardown(() => codec.close());

const modelOf = (id: string): Model => {
  const model = defaultCatalog.models.find((one) => one.id === id);
  if (model === undefined) throw new Error(`no ${id}`);
  return model;
};
const models = { video: modelOf('sluice/video'), music: modelOf('sluice/music') };

/** Time that a test moves by hand. */
class HandClock implements Clock {
  #now = 0;
  #due: { at: number; callback: () => void }[] = [];
  now = (): number => this.#now;
  after(milliseconds: number, callback: () => void): () => void {
    const entry = { at: this.#now + milliseconds, callback };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((one) => one !== entry);
    };
  }
  get waiting(): number {
    return this.#due.length;
  }
  pass(milliseconds: number): void {
    const until = this.#now + milliseconds;
    for (;;) {
      const [next] = [...this.#due].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#due = this.#due.filter((one) => one !== next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = until;
  }
}

const flow = (input: RenderFlow['input'] = () => EMPTY): RenderFlow => ({
  jobId: 'video_1',
  subscription: 'sub',
  backpressure: new Backpressure(),
  input,
});
const render = (call: RenderCall, clock?: Clock, itsFlow = flow()): Observable<RenderEvent> => {
  const engine = createSimulator({ codec, ...(clock === undefined ? {} : { clock }) });
  if (engine.render === undefined) throw new Error('it renders nothing');
  return engine.render(models[call.type], call, itsFlow);
};
const outputOf = (events: Observable<RenderEvent>): Promise<RenderOutput> =>
  firstValueFrom(events.pipe(filter((event): event is RenderOutput => event.type === 'output')));
const bytesOf = async (output: RenderOutput): Promise<Buffer> =>
  Buffer.concat(await lastValueFrom(output.bytes(new Backpressure()).pipe(toArray())));

const video: VideoCall = {
  type: 'video',
  prompt: '/sim render=0s\nA kite',
  seconds: 4,
  width: 1024,
  height: 768,
  upscaled: false,
  steps: 4,
  quality: 'turbo',
  audio: true,
  seed: 1,
  startTimeSeconds: undefined,
  inputs: [],
};
const music: MusicCall = {
  type: 'music',
  prompt: '/sim render=0s\nwaltz',
  lyrics: undefined,
  seconds: 6,
  n: 1,
  format: 'wav',
  seed: 1,
};

t.test('the same seed renders the same', { skip: onlyLong }, async (t) => {
  const [one, again, other] = await Promise.all(
    [video, video, { ...video, seed: 2 }].map(async (call) => bytesOf(await outputOf(render(call)))),
  );
  t.ok(one?.equals(again ?? Buffer.alloc(0)));
  t.notOk(one?.equals(other ?? Buffer.alloc(0)));
  const [song, sameSong, otherSong] = await Promise.all(
    [music, music, { ...music, prompt: 'march' }].map(async (call) => bytesOf(await outputOf(render(call)))),
  );
  t.ok(song?.equals(sameSong ?? Buffer.alloc(0)));
  t.notOk(song?.equals(otherSong ?? Buffer.alloc(0)));
});

t.test('2K and portrait clips have their size', { skip: onlyLong }, async (t) => {
  const large = await outputOf(render({ ...video, width: 1536, height: 2688, upscaled: true, audio: false }));
  t.match(large, { mediaType: 'video/mp4', seconds: 4.375, width: 1536, height: 2688 });
  t.match(await codec.probe(await bytesOf(large)), { width: 1536, height: 2688, hasAudio: false });
});

t.test('renders follow the requested pace', async (t) => {
  const clock = new HandClock();
  const events: RenderEvent[] = [];
  let ended = false;
  const watched = render({ ...video, prompt: '/sim render=10s' }, clock).subscribe({
    next: (event) => events.push(event),
    complete: () => {
      ended = true;
    },
  });
  const done = () => events.flatMap((event) => (event.type === 'progress' ? [event.done] : [])).at(-1) ?? 0;
  clock.pass(5000);
  t.ok(done() > 0.4 && done() < 0.5, `half of it: ${done()}`);
  t.notOk(ended);
  clock.pass(5001);
  t.ok(ended);
  t.match(events.at(-1), { type: 'output', index: 0 });
  watched.unsubscribe();

  const expected = new HandClock();
  let finished = false;
  render({ ...video, prompt: 'no line' }, expected).subscribe({
    complete: () => {
      finished = true;
    },
  });
  expected.pass(1100);
  t.notOk(finished);
  expected.pass(200);
  t.ok(finished, 'a tenth of what a real one is expected to take');
});

t.test('a cancelled render leaves nothing running', async (t) => {
  const clock = new HandClock();
  const watched = render({ ...video, prompt: '/sim render=10s' }, clock).subscribe();
  clock.pass(1000);
  t.equal(clock.waiting, 1);
  watched.unsubscribe();
  t.equal(clock.waiting, 0);
});

t.test('requested failures', async (t) => {
  const rows = [
    ['/sim render=10s fail=timeout@50%', 5000, 'timeout'],
    ['/sim render=10s fail=content_policy', 1, 'content_policy'],
    ['/sim render=1s fail=503@3', 1, 'engine_unavailable'],
    ['/sim render=1s drop@0', 1, 'engine_unavailable'],
  ] as const;
  for (const [prompt, after, code] of rows) {
    const clock = new HandClock();
    let error: unknown;
    render({ ...video, prompt }, clock).subscribe({
      error: (reason: unknown) => {
        error = reason;
      },
    });
    if (after > 1) {
      clock.pass(after - 200);
      t.equal(error, undefined, `${prompt}: not before`);
    }
    clock.pass(400);
    t.ok(error instanceof RenderError && error.code === code, `${prompt}: ${String(error)}`);
  }
  t.match(
    await lastValueFrom(render({ ...video, prompt: '/sim fail=timeout@200%' })).catch((reason) => reason),
    {
      kind: 'invalid_request',
      message: 'prompt: /sim fail must name a place, such as timeout@50%',
    },
  );
  const broken = { kind: 'image', use: 'first_frame', blob: 'b', mediaType: 'image/png' } as const;
  const unreadable = render(
    { ...video, inputs: [broken] },
    undefined,
    flow(() => of(Buffer.from('no picture'))),
  );
  t.match(await lastValueFrom(unreadable).catch((reason) => reason), { code: 'invalid_input_media' });
});

t.test('a song is the same in whatever segments it is rendered', async (t) => {
  const score = composeSong('x', 3, 0, 20);
  const layout = { sampleRate: 32_000, channels: 2 };
  const frames = sampleCount(score, layout);
  const whole = renderSamples(score, layout, 0, frames);
  const parts: Buffer[] = [];
  for (let at = 0; at < frames; at += 12_345)
    parts.push(renderSamples(score, layout, at, Math.min(frames, at + 12_345)));
  t.ok(Buffer.concat(parts).equals(whole));
  t.ok(score.seconds <= 20 && score.seconds > 16, 'whole bars');
  t.equal(whole.length, frames * 4);
  t.same([...renderSamples(score, { ...layout, channels: 1 }, 0, 10)].length, 20, 'mono too');
});

t.test('songs follow the backpressure of their reader', async (t) => {
  const backpressure = new Backpressure();
  backpressure.pause();
  let samples = 0;
  const done = lastValueFrom(
    render({ ...music, seconds: 10 }, undefined, { ...flow(), backpressure }).pipe(
      filter((event) => {
        if (event.type === 'samples') samples += event.bytes.length;
        return event.type === 'output';
      }),
    ),
  );
  await new Promise((later) => setTimeout(later, 50));
  t.equal(samples, 0);
  backpressure.resume();
  const output = (await done) as RenderOutput;
  t.equal(samples, Math.round((output.seconds ?? 0) * 32_000) * 4);

  const pieces: number[] = [];
  const held = new Backpressure();
  const reading = madePieces(100, (index) => Buffer.from([index]), held).subscribe((piece) => {
    pieces.push(piece[0] ?? 0);
    if (pieces.length === 10) held.pause();
  });
  await new Promise((later) => setTimeout(later, 20));
  t.equal(pieces.length, 10);
  reading.unsubscribe();
  held.resume();
  await new Promise((later) => setImmediate(later));
  t.equal(pieces.length, 10);
});

interface Answer {
  readonly id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

t.test('over HTTP', async (t) => {
  const server = await startSimulatorServer();
  t.teardown(() => server.close());
  const openai = new OpenAI({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });
  const created = await openai.videos.create({
    model: 'any',
    prompt: '/sim render=50ms\nA kite',
    seconds: '4',
    size: '1024x768' as never,
    input_reference: await toFile(await picture('png'), 'a.png'),
  });
  t.match(created, { status: /queued|in_progress/, size: '1024x768', seconds: '4' });
  const ended = (path: string): Promise<Answer> =>
    eventually(async () => {
      const record = (await (await fetch(`${server.url}${path}`)).json()) as Answer;
      return !/queued|in_progress/.test(record.status) && record;
    }, `the end of ${path}`);
  t.match(await ended(`/videos/${created.id}`), {
    status: 'completed',
    progress: 100,
    output: { duration: 4, width: 1024 },
  });
  const content = await openai.videos.downloadContent(created.id);
  t.match(await codec.probe(new Uint8Array(await content.arrayBuffer())), {
    width: 1024,
    height: 768,
    channels: 2,
  });
  t.match(await openai.videos.delete(created.id), { deleted: true });
  t.equal((await fetch(`${server.url}/videos/${created.id}`)).status, 404);

  const post = async (path: string, body: object): Promise<Answer> =>
    (await (
      await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', ...body }),
      })
    ).json()) as Answer;
  const song = await post('/music', { prompt: '/sim render=300ms', duration: 5, response_format: 'wav' });
  const heard = Buffer.from(await (await fetch(`${server.url}/music/${song.id}/stream`)).arrayBuffer());
  t.match(await ended(`/music/${song.id}`), { status: 'completed', outputs: [{ index: 0 }] });
  const stored = Buffer.from(await (await fetch(`${server.url}/music/${song.id}/content`)).arrayBuffer());
  t.ok(heard.subarray(44).equals(stored.subarray(44)));

  const failing = await post('/videos', { prompt: '/sim render=0s fail=out_of_memory' });
  t.match(await ended(`/videos/${failing.id}`), { status: 'failed', error: { code: 'out_of_memory' } });
  const running = await post('/videos', { prompt: '/sim render=60s' });
  t.equal((await fetch(`${server.url}/videos/${running.id}/content`)).status, 409);
  const cancelled = await fetch(`${server.url}/videos/${running.id}`, { method: 'DELETE' });
  t.match(await cancelled.json(), { id: running.id, status: 'cancelled' });
  t.match(await post('/videos', { prompt: 'x', size: '3x3' }), { error: { code: 400 } });
  t.match(await post('/videos', { prompt: 7 }), { error: { code: 400 } });
});
