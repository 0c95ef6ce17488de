/** Tests the speech route over a real socket: formats, speed, voices, streams, faults and billing. */
import { tap } from 'rxjs';
import t from 'tap';
import type { Backpressure } from '../../src/ports/backpressure.ts';
import { eventually } from '../eventually.ts';
import { onlyLong, someOf } from '../long.ts';
import { bytesOf, eventsOf, startSounding } from './sound-gateway.ts';
import { codec, described, ffmpegs, loudness, samplesOf, tone, wave } from './sounds.ts';

const { gateway, events, speak, get } = await startSounding();
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const input = 'The quick brown fox jumps over the lazy dog. Then it sleeps.';
const priceOf = (seconds: number) => ({
  'x-usage-seconds': String(seconds),
  'x-usage-cost': String((seconds * 3) / 10_000),
});
const headersOf = (response: Response) => ({
  'x-usage-seconds': response.headers.get('x-usage-seconds'),
  'x-usage-cost': response.headers.get('x-usage-cost'),
});

const plain = await bytesOf(await speak({ input, response_format: 'pcm' }));
const seconds = plain.length / 48_000;
const billed = Math.ceil(seconds);

t.test('formats', async (t) => {
  t.ok(seconds > 3 && seconds < 8, `${seconds} seconds of speech`);
  t.ok(loudness(await samplesOf(wave(plain))) > 0.02, 'it is heard');
  const rows = [
    ['mp3', 'audio/mpeg', 'mp3'],
    ['opus', 'audio/ogg', 'ogg'],
    ['flac', 'audio/flac', 'flac'],
    ['wav', 'audio/wav', 'wav'],
  ] as const;
  for (const [format, mediaType, container] of someOf(rows, 2)) {
    const response = await speak({ input, response_format: format });
    const bytes = await bytesOf(response);
    t.equal(response.status, 200);
    t.equal(response.headers.get('content-type'), mediaType);
    t.same(headersOf(response), priceOf(billed));
    const facts = await codec.probe(bytes);
    t.equal(facts.container, container);
    t.equal(facts.channels, 1);
    t.equal(facts.sampleRate, format === 'opus' ? 48_000 : 24_000);
    const said = await described(bytes, mediaType);
    t.ok(Math.abs(said.seconds - seconds) < 0.15, `${format} says ${said.seconds} of ${seconds} seconds`);
    const samples = await samplesOf(bytes);
    t.ok(Math.abs(samples.length / 24_000 - seconds) < 0.15, `${format} has as many samples`);
    t.ok(loudness(samples) > 0.02, `${format} is heard`);
  }
  const usual = await speak({ input });
  t.equal(usual.headers.get('content-type'), 'audio/mpeg', 'mp3 unless told');
  await usual.body?.cancel();
});

t.test('raw samples carry no usage', async (t) => {
  const response = await speak({ input, response_format: 'pcm' });
  t.equal(response.headers.get('content-type'), 'audio/pcm;rate=24000;channels=1');
  t.same(headersOf(response), { 'x-usage-seconds': null, 'x-usage-cost': null });
  t.same(await bytesOf(response), plain, 'the same words are said the same way');
});

t.test('speed', { skip: onlyLong }, async (t) => {
  const frequency = async (bytes: Buffer) => voicePitch(await samplesOf(bytes));
  const own = await frequency(wave(plain));
  for (const speed of [0.25, 0.9, 2, 4]) {
    const response = await speak({ input, speed, response_format: 'wav' });
    t.same(headersOf(response), priceOf(billed), 'billed before speed');
    const bytes = await bytesOf(response);
    const facts = await codec.probe(bytes);
    t.ok(
      Math.abs(facts.seconds - seconds / speed) < 0.1 + 0.05 / speed,
      `${speed}: ${facts.seconds} seconds`,
    );
    const now = await frequency(bytes);
    t.ok(Math.abs(now / own - 1) < 0.2, `${speed}: ${now} Hz of ${own} Hz`);
  }
  const raw = await speak({ input, speed: 2, response_format: 'pcm' });
  t.equal(raw.headers.get('content-type'), 'audio/pcm;rate=24000;channels=1');
  t.same(headersOf(raw), priceOf(billed), 'no longer as generated, so that usage is known');
  t.ok(Math.abs((await bytesOf(raw)).length / 48_000 - seconds / 2) < 0.1);
});

/** The strongest repetition between 60 and 400 a second, over the loudest half second. */
const voicePitch = (samples: Int16Array): number => {
  const window = 12_000;
  let start = 0;
  let best = 0;
  for (let at = 0; at + window <= samples.length; at += 2400) {
    const loud = loudness(samples.subarray(at, at + window));
    if (loud > best) {
      best = loud;
      start = at;
    }
  }
  const piece = samples.subarray(start, start + window);
  let found = 0;
  let most = 0;
  for (let lag = 60; lag <= 400; lag++) {
    let sum = 0;
    for (let at = 0; at + 400 < piece.length; at += 2) sum += (piece[at] ?? 0) * (piece[at + lag] ?? 0);
    if (sum > most) {
      most = sum;
      found = lag;
    }
  }
  return 24_000 / found;
};

t.test('events', async (t) => {
  const usage = {
    input_tokens: 15,
    output_tokens: 0,
    total_tokens: 15,
    seconds: billed,
    cost: (billed * 3) / 10_000,
  };
  const response = await speak({ input, response_format: 'pcm', stream_format: 'sse' });
  t.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const streamed = await eventsOf(response);
  const last = streamed.at(-1);
  t.ok(streamed.length > 20, `${streamed.length} events`);
  t.same(last, { event: 'speech.audio.done', data: { type: 'speech.audio.done', usage } });
  const deltas = streamed.slice(0, -1);
  t.ok(deltas.every(({ event, data }) => event === 'speech.audio.delta' && data.type === event));
  t.same(Buffer.concat(deltas.map(({ data }) => Buffer.from(String(data.audio), 'base64'))), plain);

  const [file, done, ...more] = await eventsOf(await speak({ input, stream_format: 'sse' }));
  t.same(more, []);
  t.same(done, { event: 'speech.audio.done', data: { type: 'speech.audio.done', usage } });
  t.equal(file?.event, 'speech.audio.delta');
  const facts = await codec.probe(Buffer.from(String(file?.data.audio), 'base64'));
  t.match(facts, { container: 'mp3', sampleRate: 24_000 }, 'other formats arrive as one delta');
});

t.test('failures', async (t) => {
  const failure = {
    code: 503,
    message: 'Simulated failure 503',
    type: 'server_error',
    param: null,
    metadata: { error_type: 'provider_overloaded' },
  };
  for (const form of [{}, { response_format: 'pcm' }, { response_format: 'pcm', stream_format: 'sse' }]) {
    const response = await speak({ input: `/sim fail=503@0\n${input}`, ...form });
    t.equal(response.status, 503, 'before the first piece it is an answer');
    t.same(await response.json(), { error: failure });
  }
  const whole = await speak({ input: `/sim fail=503@5\n${input}` });
  t.equal(whole.status, 503, 'a file fails as a whole');
  const [first, ...others] = await eventsOf(
    await speak({ input: `/sim fail=503@1\n${input}`, response_format: 'pcm', stream_format: 'sse' }),
  );
  t.equal(first?.event, 'speech.audio.delta');
  t.same(others, [{ event: 'speech.audio.error', data: { type: 'speech.audio.error', error: failure } }]);
  await t.rejects(
    speak({ input: `/sim drop@3\n${input}`, response_format: 'pcm' }).then(bytesOf),
    'samples that break off are cut off',
  );
});

t.test('usage events', async (t) => {
  const of = async (body: object) => {
    const before = events.length;
    const response = await speak(body);
    await response.arrayBuffer().catch(() => undefined);
    await eventually(() => events.length > before, 'an event');
    t.equal(events.length, before + 1, 'one for each request');
    return events.at(-1);
  };
  const cost = String((billed * 3) / 10_000);
  for (const form of [
    {},
    { speed: 2 },
    { response_format: 'pcm' },
    { response_format: 'pcm', stream_format: 'sse' },
  ])
    t.match(await of({ input, ...form }), {
      route: '/audio/speech',
      model: 'sluice/speech',
      outcome: 'completed',
      status: 200,
      quantities: { seconds: String(billed), prompt_tokens: 0, completion_tokens: 0 },
      cost,
    });
  for (const form of [{}, { response_format: 'pcm' }, { response_format: 'pcm', stream_format: 'sse' }])
    t.match(await of({ input: `/sim fail=503@12\n${input}`, ...form }), {
      outcome: 'failed',
      status: 503,
      cost: '0',
    });
});

t.test('a client that disconnects pays for what was generated, and the engine stops', async (t) => {
  const before = events.length;
  const leaving = new AbortController();
  const response = await speak(
    { input: `/sim rate=20/s\n${input} ${input}`, response_format: 'pcm' },
    leaving.signal,
  );
  const reader = response.body?.getReader();
  let received = 0;
  while (received < 60_000) received += (await reader?.read())?.value?.length ?? 0;
  leaving.abort();
  await eventually(() => events.length > before, 'the event');
  const event = events.at(-1);
  t.match(event, { outcome: 'cancelled', status: 499 });
  const paid = Number(event?.quantities.seconds);
  t.ok(paid >= 2 && paid <= 4, `${paid} seconds for ${received / 48_000}`);
  t.equal(event?.cost, String((paid * 3) / 10_000));
});

t.test(
  'a disconnect during conversion ends the process',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const leaving = new AbortController();
    // Four minutes of sound: long enough to be met in the middle.
    const long = { input: `${input} `.repeat(15), voice: 'dan', speed: 0.25, response_format: 'opus' };
    const call = speak(long, leaving.signal);
    await eventually(() => ffmpegs().length > 0, 'a process runs');
    leaving.abort();
    await t.rejects(call);
    await eventually(() => ffmpegs().length === 0, 'it is gone');
  },
);

t.test('backpressure of a slow reader pauses the engine', { skip: onlyLong }, async (t) => {
  const { engines } = gateway.ports;
  const original = engines.of;
  let backpressure: Backpressure | undefined;
  let made = 0;
  engines.of = (model) => {
    const engine = original(model);
    const { speak: say } = engine;
    if (say === undefined) return engine;
    return {
      ...engine,
      speak: (asked, call, flow) => {
        backpressure = flow.backpressure;
        return say(asked, call, flow).pipe(
          tap(({ samples }) => {
            made += samples.length;
          }),
        );
      },
    };
  };
  t.teardown(() => {
    engines.of = original;
  });
  const response = await speak({ input: `${input} `.repeat(66), voice: 'dan', response_format: 'pcm' });
  const reader = response.body?.getReader();
  let received = (await reader?.read())?.value?.length ?? 0;
  await eventually(() => backpressure?.paused === true, 'the engine is held back');
  const held = made;
  for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
    received += chunk.value.length;
  t.equal(received, made, 'all of it arrives in the end');
  t.ok(held < made, `${held} of ${made} bytes were made before they were read`);
});

t.test('voices', { skip: onlyLong }, async (t) => {
  const lengths = new Set<number>();
  for (const voice of ['ada', 'ben', 'cleo', 'dan']) {
    const bytes = await bytesOf(await speak({ input, voice, response_format: 'pcm' }));
    lengths.add(bytes.length);
    t.same(await bytesOf(await speak({ input, voice: { id: voice }, response_format: 'pcm' })), bytes, voice);
  }
  t.equal(lengths.size, 4, 'each its own');
  const designed = await speak({
    input,
    voice: 'design',
    instructions: 'An old sailor',
    response_format: 'pcm',
  });
  t.ok((await bytesOf(designed)).length > 100_000);
  const clip = {
    type: 'input_audio',
    input_audio: { data: (await tone(2, 'mp3')).toString('base64'), format: 'mp3' },
  };
  for (const references of [[clip], [clip, { type: 'text', text: 'Beep' }]])
    for (const voice of [undefined, 'clone', { id: 'clone' }]) {
      const cloned = await speak({ input, voice, input_references: references, response_format: 'pcm' });
      t.equal(cloned.status, 200);
      t.ok((await bytesOf(cloned)).length > 100_000);
    }
});

t.test('provider options', { skip: onlyLong }, async (t) => {
  for (const options of [
    { speed: 2 },
    { sluice: { speed: 2 } },
    { openai: { speed: 2, unheard_of: true } },
  ]) {
    const response = await speak({ input, response_format: 'wav', provider: { options } });
    const facts = await codec.probe(await bytesOf(response));
    t.ok(Math.abs(facts.seconds - seconds / 2) < 0.2, JSON.stringify(options));
  }
  const own = await speak({ input, speed: 1, response_format: 'wav', provider: { options: { speed: 2 } } });
  t.ok(Math.abs((await codec.probe(await bytesOf(own))).seconds - seconds) < 0.1, 'the field itself wins');
});

t.test('every script can be spoken', { skip: onlyLong }, async (t) => {
  for (const text of [
    'こんにちは、世界。',
    'Здравствуй, мир!',
    'مرحبا بالعالم',
    '🙂',
    '3.14159 €',
    'naïve café',
  ])
    t.ok(
      loudness(await samplesOf(wave(await bytesOf(await speak({ input: text, response_format: 'pcm' }))))) >=
        (text === '🙂' ? 0 : 0.01),
      text,
    );
});

t.test('GET /audio/voices', async (t) => {
  const voice = (id: string, kind = 'builtin') => ({
    ...{ id, object: 'audio.voice', name: `${id[0]?.toUpperCase()}${id.slice(1)}`, model: 'sluice/speech' },
    ...{ language: null, description: null, kind },
  });
  const list = {
    object: 'list',
    data: [
      voice('ada'),
      voice('ben'),
      voice('cleo'),
      voice('dan'),
      voice('design', 'design'),
      voice('clone', 'clone'),
    ],
  };
  t.same(await (await get('/audio/voices?model=sluice/speech')).json(), list);
  t.same(await (await get('/audio/voices')).json(), list);
  const entry = (await (await get('/models/sluice%2Fspeech')).json()) as { supported_voices: string[] };
  t.same(
    entry.supported_voices,
    list.data.map(({ id }) => id),
    'the entry agrees',
  );
  t.equal((await get('/audio/voices?model=sluice/chat')).status, 404);
  t.equal((await get('/audio/voices?model=nobody')).status, 404);
  t.equal((await fetch(`${gateway.url}/audio/voices`)).status, 401);
});
