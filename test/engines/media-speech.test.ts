/** Tests that whatever sound a speech engine sends, clients hear that sound and never noise. */
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import t from 'tap';
import { soundFormat } from '../../src/engines/operations/sound-format.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import { bytesOf, eventsOf, startSounding } from '../audio/sound-gateway.ts';
import { containers, loudness, pitch, samplesOf, codec as soundCodec, tone, wave } from '../audio/sounds.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { onlyLong } from '../long.ts';
import { codec, cut, html, MediaEngine, type SentFile } from './media-stand-in.ts';

const engine = await new MediaEngine().start(t);
const { gateway, events, speak } = await startSounding({
  catalog: `
engines:
  stand-in: { wire: openai, replicas: ['${engine.url}'] }
models:
  far/pcm: { kind: speech, engine: stand-in, voices: [one], pricing: { completion: '0.01' } }
  far/slow: { kind: speech, engine: stand-in, voices: [one], capabilities: { speech: { engine_rate: 16000 } } }
  far/mp3: { kind: speech, engine: stand-in, voices: [one], capabilities: { speech: { engine_format: mp3 } } }
  far/wav: { kind: speech, engine: stand-in, voices: [one], capabilities: { speech: { engine_format: wav } } }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
  await soundCodec.close();
});

const input = 'Two seconds of a tone';
const seconds = 2;
const wav = await tone(seconds);
const samples = Buffer.from((await samplesOf(wav)).buffer);
const files = Object.fromEntries(
  await Promise.all(containers.map(async (name) => [name, await tone(seconds, name)] as const)),
);
const types: Readonly<Record<string, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  webm: 'audio/webm',
  aac: 'audio/aac',
};

const asSamples = (bytes: Buffer): Int16Array =>
  new Int16Array(new Uint8Array(bytes).buffer, 0, bytes.length >> 1);

/** A tone of 440 Hz, two seconds long, at a common volume. */
const isTone = (heard: Int16Array): boolean =>
  Math.abs(pitch(heard) - 440) < 5 &&
  Math.abs(heard.length / 24_000 - seconds) < 0.15 &&
  loudness(heard) > 0.05 &&
  loudness(heard) < 0.15;

const said = async (file: SentFile, fields: object = {}) => {
  engine.file = file;
  return speak({ model: 'far/pcm', input, response_format: 'pcm', ...fields });
};

t.test('the tone is the tone', async (t) => {
  t.ok(isTone(asSamples(samples)));
});

/** Every container with every type and with every size of pieces, but not all three with each other: each is a conversion. */
t.test('files where samples were asked for, however they are called', { skip: onlyLong }, async (t) => {
  const sizes = [undefined, 7, 1000];
  for (const [at, container] of containers.entries()) {
    const called = [types[container] ?? '', 'audio/pcm', 'application/octet-stream', 'audio/x-wav'];
    for (const [index, type] of called.entries()) {
      const pieces = sizes[(at + index) % sizes.length];
      const what = `${container} as ${type}, pieces of ${pieces}`;
      const file = { bytes: files[container] ?? Buffer.alloc(0), type, ...(pieces && { pieces }) };
      const response = await said(file);
      t.equal(response.headers.get('content-type'), 'audio/pcm;rate=24000;channels=1', what);
      t.ok(isTone(asSamples(await bytesOf(response))), what);
    }
  }
});

t.test('as events, and as a file', async (t) => {
  for (const container of ['wav', 'mp3']) {
    const file = { bytes: files[container] ?? Buffer.alloc(0), type: types[container] ?? '' };
    const before = events.length;
    const streamed = await eventsOf(await said(file, { stream_format: 'sse' }));
    const deltas = streamed.filter(({ event }) => event === 'speech.audio.delta');
    const heard = Buffer.concat(deltas.map(({ data }) => Buffer.from(String(data.audio), 'base64')));
    t.ok(isTone(asSamples(heard)), `${container} as events`);
    const { data } = streamed.at(-1) ?? {};
    const billed = Math.ceil(heard.length / 48_000);
    t.match(data, { type: 'speech.audio.done', usage: { seconds: billed, cost: billed / 100 } });
    t.match(events.slice(before), [{ outcome: 'completed', quantities: { seconds: String(billed) } }]);

    const whole = await said(file, { response_format: 'flac' });
    t.equal(whole.headers.get('x-usage-seconds'), String(billed));
    t.ok(isTone(await samplesOf(await bytesOf(whole))), `${container} as a file`);
  }
});

t.test(
  'samples are passed on byte by byte, also where they look like something else',
  { skip: onlyLong },
  async (t) => {
    const rows: [string, Buffer][] = [
      ['a tone', samples],
      [
        'a first sample that begins frames of MP3',
        Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), samples]),
      ],
      ['one that begins frames of AAC', Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80]), samples])],
      ['silence', Buffer.alloc(48_000)],
      ['very little', Buffer.from([1, 2, 3, 4])],
    ];
    for (const [what, bytes] of rows)
      for (const type of [
        'audio/pcm',
        'application/octet-stream',
        'audio/wav',
        'audio/pcm;rate=24000;channels=1',
      ])
        for (const pieces of [undefined, 5]) {
          const heard = await bytesOf(await said({ bytes, type, ...(pieces && { pieces }) }));
          t.ok(heard.equals(bytes), `${what} as ${type}, pieces of ${pieces}`);
        }
  },
);

t.test('the rate and the channels that the content type states', { skip: onlyLong }, async (t) => {
  const other = await tone(seconds, 'wav');
  const at = async (words: string[]) => Buffer.from(await samplesWith(other, words));
  const slow = await at(['-ar', '16000', '-ac', '1']);
  const stereo = await at(['-ar', '48000', '-ac', '2']);
  for (const model of ['far/pcm', 'far/slow']) {
    t.ok(
      isTone(asSamples(await bytesOf(await said({ bytes: slow, type: 'audio/pcm; rate=16000' }, { model })))),
    );
    const type = 'audio/L16;rate=48000;channels=2';
    t.ok(isTone(asSamples(await bytesOf(await said({ bytes: stereo, type }, { model })))));
  }
  t.ok(
    isTone(asSamples(await bytesOf(await said({ bytes: slow, type: 'audio/pcm' }, { model: 'far/slow' })))),
  );
  t.ok(
    isTone(asSamples(await bytesOf(await said({ bytes: wav, type: 'audio/pcm' }, { model: 'far/slow' })))),
    'a file has a rate of its own',
  );
});

const samplesWith = async (bytes: Buffer, words: string[]): Promise<Uint8Array> => {
  const conversion = { arguments: [...words, '-f', 's16le'], maxBytes: 1e8, timeoutMs: 60_000 };
  return Buffer.concat(
    await lastValueFrom(codec.convert(bytes, conversion, new Backpressure()).pipe(toArray())),
  );
};

t.test('other files than the row asks for', { skip: onlyLong }, async (t) => {
  for (const model of ['far/mp3', 'far/wav'])
    for (const container of containers) {
      const file = { bytes: files[container] ?? Buffer.alloc(0), type: 'audio/mpeg' };
      t.ok(isTone(asSamples(await bytesOf(await said(file, { model })))), `${container} for ${model}`);
    }
  const raw = { bytes: samples, type: 'audio/pcm;rate=24000' };
  t.ok(isTone(asSamples(await bytesOf(await said(raw, { model: 'far/mp3' })))), 'samples for a file');
});

t.test('an MP3 that begins between two frames', async (t) => {
  const bytes = (files.mp3 ?? Buffer.alloc(0)).subarray(700);
  const heard = asSamples(await bytesOf(await said({ bytes, type: 'audio/mpeg' })));
  t.ok(Math.abs(pitch(heard) - 440) < 5);
});

t.test('what is no sound', async (t) => {
  const undecodable = 'The engine sent sound that cannot be decoded';
  const none = 'The engine sent no sound';
  const error = Buffer.from('{"error":{"message":"CUDA out of memory, try a shorter text please"}}');
  const rows: [string, SentFile, string][] = [
    ['an HTML page that is called samples', { bytes: html, type: 'audio/pcm' }, undecodable],
    ['an HTML page that is called MP3', { bytes: html, type: 'audio/mpeg' }, undecodable],
    ['an HTML page', { bytes: html, type: 'text/html' }, none],
    ['an error that is called samples', { bytes: error, type: 'audio/pcm' }, undecodable],
    ['nothing', { bytes: Buffer.alloc(0), type: 'audio/pcm' }, none],
    ['half a sample', { bytes: Buffer.alloc(1), type: 'audio/pcm' }, none],
    ['a header without samples', { bytes: wave(Buffer.alloc(0)), type: 'audio/wav' }, none],
    ['samples that are called MP3', { bytes: samples, type: 'audio/mpeg' }, undecodable],
    ['samples that are called Ogg', { bytes: samples, type: 'audio/ogg' }, undecodable],
    [
      'an MP4 without its index',
      { bytes: cut(files.m4a ?? Buffer.alloc(0), 50), type: 'audio/mp4' },
      undecodable,
    ],
  ];
  for (const [what, file, message] of rows)
    for (const fields of [{}, { stream_format: 'sse' }, { response_format: 'mp3' }]) {
      const before = events.length;
      const response = await said(file, fields);
      const how = `${what} ${JSON.stringify(fields)}`;
      t.equal(response.status, 502, how);
      t.same(await response.json(), envelope(502, message, 'server_error', 'provider_unavailable'), how);
      await eventually(() => events.length > before, 'the usage event');
      t.match(events.slice(before), [{ outcome: 'failed', status: 502, cost: '0' }], `${how} costs nothing`);
    }
});

t.test('random samples are samples, whatever arrives first', async (t) => {
  const asked = { format: 'pcm', rate: 24_000 } as const;
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 400 }), (bytes) => {
        // A length of a box, or text, might be among them.
        fc.pre(
          bytes[0] !== 0 &&
            bytes.some((byte) => byte > 0x7f) &&
            bytes.slice(0, 64).some((byte) => byte > 0x7f),
        );
        const head = Buffer.from(bytes);
        const found = soundFormat(head, true, 'audio/pcm', asked);
        return found?.kind === 'samples' && found.rate === 24_000;
      }),
    ),
  );
});
