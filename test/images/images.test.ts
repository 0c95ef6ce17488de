/** Tests the image routes over a real socket: engine calls, responses, billing and failures. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concat, EMPTY, Observable, of, throwError } from 'rxjs';
import sharp from 'sharp';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { ImageCompletedEvent, ImageResponse } from '../../schemas/image.ts';
import { UsageEvent } from '../../schemas/usage-event.ts';
import { fail } from '../../src/errors.ts';
import { encodedMedia, plainMedia } from '../../src/media/media-data.ts';
import type { Drawn, ImageCall } from '../../src/ports/engines/image.ts';
import { imageCall } from '../engines/image-calls.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { dataUri, formOf, plain, type Said, startImages } from './drawing.ts';

const { gateway, events, calls, play, post } = await startImages({ env: { SLUICE_ALLOW_PRIVATE_URLS: '1' } });
t.teardown(() => gateway.stop());

const edit = 'sluice/image-edit';
const isResponse = Compile(ImageResponse);
const isCompleted = Compile(ImageCompletedEvent);
const isUsageEvent = Compile(UsageEvent);

interface Answer {
  readonly data: readonly {
    readonly b64_json?: string;
    readonly url?: string;
    readonly media_type: string;
  }[];
  readonly size: string;
  readonly output_format: string;
  readonly background: string;
  readonly usage: { readonly cost: number; readonly megapixels: number };
}

const answerOf = (said: Said): Answer => {
  const body: unknown = JSON.parse(said.text);
  if (!isResponse.Check(body)) throw new Error(`${said.status} ${said.text.slice(0, 500)}`);
  return body as Answer;
};
const pictureOf = ({ b64_json: base64 = '' }: Answer['data'][number]) => sharp(Buffer.from(base64, 'base64'));
const lastCall = (): ImageCall => {
  const call = calls.at(-1);
  if (call === undefined) throw new Error('the engine was not asked');
  return call;
};
const tokens = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
  input_tokens_details: { text_tokens: 0, image_tokens: 0 },
};
const failed = (error: Error): Observable<Drawn> => throwError(() => error);

/** An engine that draws the same small picture at once, as often as it is asked to. */
const small = await plain('png');
const drawSmall = (_model: unknown, { n }: ImageCall): Observable<Drawn> =>
  of(...Array.from({ length: n }, (_, index) => drawnOf(small, index)));
const drawnOf = (bytes: Buffer, index = 0, revisedPrompt?: string): Drawn => ({
  index,
  image: plainMedia(bytes),
  revisedPrompt,
});

t.test('a base64 response, and its bill', async (t) => {
  const before = events.length;
  const said = await post('/images', { prompt: 'A red fox', size: '768x512', seed: 7 });
  const { data, ...rest } = JSON.parse(said.text);
  t.equal(said.type, 'application/json');
  t.ok(isResponse.Check({ data, ...rest }));
  t.match(rest, {
    created: Number,
    size: '768x512',
    output_format: 'png',
    background: 'opaque',
    usage: { ...tokens, cost: 0.00196608, megapixels: 0.393216 },
  });
  t.same(Object.keys(data[0]), ['b64_json', 'media_type']);
  const { format, width, height } = await pictureOf(data[0]).metadata();
  t.same({ format, width, height }, { format: 'png', width: 768, height: 512 });
  t.equal(events.length, before + 1);
  const event = events.at(-1);
  t.ok(isUsageEvent.Check(event), JSON.stringify(isUsageEvent.Errors(event)));
  t.match(event, {
    route: '/images',
    model: 'sluice/image',
    engine: 'simulator',
    outcome: 'completed',
    status: 200,
    quantities: { prompt_tokens: 0, completion_tokens: 0, megapixels: '0.393216', inputs: 1 },
    cost: '0.00196608',
  });
  const again = await post('/images', { prompt: 'A red fox', size: '768x512', seed: 7 });
  t.equal(answerOf(again).data[0]?.b64_json, data[0].b64_json, 'the same seed draws the same');
  const other = await post('/images', { prompt: 'A red fox', size: '768x512', seed: 8 });
  t.not(answerOf(other).data[0]?.b64_json, data[0].b64_json);
});

t.test('links are valid for an hour', async (t) => {
  for (const path of ['/images/generations', '/images/edits']) {
    const said = await post(path, {
      prompt: 'A red fox',
      model: edit,
      size: '1024x768',
      n: 2,
      output_format: 'webp',
      input_references: [{ type: 'image_url', image_url: { url: dataUri(small) } }],
    });
    const { data, size, output_format } = answerOf(said);
    t.same(
      { size, output_format, count: data.length },
      { size: '1024x768', output_format: 'webp', count: 2 },
    );
    for (const item of data) {
      t.same(Object.keys(item), ['url', 'media_type']);
      const url = new URL(item.url ?? '');
      const left = Number(url.searchParams.get('expires')) - Date.now() / 1000;
      t.ok(left > 3500 && left <= 3601, `expires in ${left} s`);
      const response = await fetch(url);
      t.same([response.status, response.headers.get('content-type')], [200, 'image/webp']);
      const { format, width, height } = await sharp(await response.arrayBuffer()).metadata();
      t.same({ format, width, height }, { format: 'webp', width: 1024, height: 768 });
    }
    t.equal(events.at(-1)?.route, path);
  }
  const asked = await post('/images/generations', {
    prompt: 'x',
    size: '256x256',
    response_format: 'b64_json',
  });
  t.ok(answerOf(asked).data[0]?.b64_json);
  const linked = await post('/images', { prompt: 'x', size: '256x256', response_format: 'url' });
  t.ok(answerOf(linked).data[0]?.url);
});

t.test('formats', async (t) => {
  for (const [output_format, output_compression] of [
    ['jpeg', 30],
    ['webp', 80],
    ['png', 100],
  ] as const) {
    const said = await post('/images', {
      prompt: 'A harbour',
      size: '512x512',
      output_format,
      output_compression,
    });
    const { data, ...about } = answerOf(said);
    t.match([data[0]?.media_type, about.output_format], [`image/${output_format}`, output_format]);
    t.equal((await pictureOf(data[0] ?? { media_type: '' }).metadata()).format, output_format);
  }
});

t.test('the engine call', async (t) => {
  play(drawSmall);
  t.teardown(() => play(undefined));
  const wanted = async (fields: object, path = '/images'): Promise<ImageCall> => {
    const said = await post(path, { prompt: 'x', ...fields });
    t.equal(said.status, 200, `${JSON.stringify(fields).slice(0, 200)} ${said.text.slice(0, 200)}`);
    return lastCall();
  };
  const defaults = imageCall({
    prompt: 'x',
    width: 1024,
    height: 1024,
    seed: undefined,
    steps: 8,
    guidanceScale: 0,
  });
  t.same(await wanted({}), defaults);
  const nothing = Object.fromEntries(
    [
      ...['model', 'n', 'response_format', 'size', 'width', 'height', 'aspect_ratio', 'resolution', 'seed'],
      ...['output_format', 'output_compression', 'background', 'input_references', 'images', 'mask', 'steps'],
      ...['num_inference_steps', 'guidance_scale', 'negative_prompt', 'provider', 'stream', 'partial_images'],
      ...['user', 'session_id', 'trace', 'quality', 'moderation', 'style', 'image'],
    ].map((name) => [name, null]),
  );
  t.same(await wanted(nothing), defaults, 'null is absent');
  t.same(
    await wanted({
      partial_images: 0,
      user: 'u',
      session_id: 's',
      trace: { id: 't' },
      quality: 'hd',
      stream: false,
      provider: { order: ['a'], allow_fallbacks: false, options: { steps: null } },
      input_fidelity: 'high',
    }),
    defaults,
    'what is ignored changes nothing',
  );
  t.same(await wanted({ prompt: '😀'.repeat(4000) }), { ...defaults, prompt: '😀'.repeat(4000) });

  const sizes: readonly [object, string][] = [
    [{ size: 'auto' }, '1024x1024'],
    [{ size: '512' }, '512x512'],
    [{ size: '1.5K' }, '1536x1536'],
    [{ size: '2K', resolution: '2K' }, '2048x2048'],
    [{ size: '256x256' }, '256x256'],
    [{ size: '2048x512' }, '2048x512'],
    [{ width: 640, height: 960 }, '640x960'],
    [{ width: 640, height: 960, size: '640x960' }, '640x960'],
    [{ width: 640, height: 960, size: 'auto' }, '640x960'],
    [{ width: 2048, height: 2048, size: '2K' }, '2048x2048'],
    [{ aspect_ratio: '16:9' }, '1280x720'],
    [{ aspect_ratio: '16:9', size: 'auto' }, '1280x720'],
    [{ aspect_ratio: '9:21', resolution: '2K' }, '1296x3024'],
    [{ aspect_ratio: '3:2', size: '768' }, '960x640'],
    [{ resolution: '768' }, '768x768'],
    [{ aspect_ratio: '3:2', size: '480x320' }, '480x320'],
    [{ resolution: '1K', size: '1280x720' }, '1280x720'],
    [{ resolution: '1K', aspect_ratio: '16:9', size: '1280x720' }, '1280x720'],
  ];
  for (const [fields, size] of sizes) {
    const { width, height } = await wanted(fields);
    t.equal(`${width}x${height}`, size, JSON.stringify(fields));
  }

  const settings: readonly [object, Partial<ImageCall>][] = [
    [{ steps: 3 }, { steps: 3 }],
    [{ num_inference_steps: 4 }, { steps: 4 }],
    [{ steps: 3, num_inference_steps: 4 }, { steps: 3 }],
    [{ num_inference_steps: 4, provider: { options: { steps: 5 } } }, { steps: 4 }],
    [{ provider: { options: { steps: 5, num_inference_steps: 6 } } }, { steps: 5 }],
    [{ provider: { options: { num_inference_steps: 6, sluice: { steps: 7 } } } }, { steps: 6 }],
    [{ provider: { options: { sluice: { steps: 7 } } } }, { steps: 7 }],
    [{ steps: null, provider: { options: { sluice: { steps: 7 } } } }, { steps: 7 }],
    [
      { guidance_scale: 20, negative_prompt: 'rain' },
      { guidanceScale: 20, negativePrompt: 'rain' },
    ],
    [
      { provider: { options: { guidance_scale: 1.5, negative_prompt: '' } } },
      { guidanceScale: 1.5, negativePrompt: '' },
    ],
    [{ guidance_scale: 0, provider: { options: { guidance_scale: 7 } } }, { guidanceScale: 0 }],
    [{ negative_prompt: 'rain' }, {}],
    [{ negative_prompt: 'rain', guidance_scale: 0, provider: { options: { guidance_scale: 7 } } }, {}],
    [
      { negative_prompt: 'rain', guidance_scale: 0.1 },
      { guidanceScale: 0.1, negativePrompt: 'rain' },
    ],
  ];
  for (const [fields, change] of settings)
    t.same(await wanted(fields), { ...defaults, ...change }, JSON.stringify(fields));
});

t.test('seeds of 64 bits, without loss', async (t) => {
  play(drawSmall);
  t.teardown(() => play(undefined));
  const seeds = [
    '0',
    '-1',
    '9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '-9007199254740995',
  ];
  for (const seed of seeds) {
    const bodies = [
      `{"trace":{"seed":1234567890123456789},"prompt":"x \\"seed\\":1","seed" : ${seed}}`,
      // Large enough to be parsed elsewhere.
      `{"seed":${seed},"user":"${'u'.repeat(300_000)}","prompt":"x"}`,
      formOf({ prompt: 'x', seed }),
    ];
    for (const body of bodies) {
      t.equal((await post('/images', body)).status, 200);
      t.equal(lastCall().seed, BigInt(seed));
    }
  }
});

t.test('input images keep their order', async (t) => {
  play(drawSmall);
  t.teardown(() => play(undefined));
  const [jpeg, webp, png] = [await plain('jpeg', { width: 80 }), await plain('webp', { width: 96 }), small];
  const server = createServer((_, response) => response.end(webp)).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/picture`;
  const shown = ({ references, mask }: ImageCall) =>
    [...references, ...(mask === undefined ? [] : [mask])].map(
      ({ mediaType, width, height, size, bytes, base64 }) => ({
        mediaType,
        width,
        height,
        isWhole: bytes.length === size && Buffer.from(String(base64), 'base64').equals(bytes),
      }),
    );
  const about = (type: string, width: number) => ({
    mediaType: `image/${type}`,
    width,
    height: 48,
    isWhole: true,
  });

  const json = await post('/images/edits', {
    prompt: 'x',
    model: edit,
    size: 'auto',
    images: [{ image_url: url }, { image_url: { url: dataUri(jpeg, 'image/png') } }],
    input_references: [{ type: 'image_url', image_url: { url: dataUri(png) } }],
    mask: { image_url: dataUri(png) },
  });
  t.equal(json.status, 200, json.text.slice(0, 300));
  t.same(shown(lastCall()), [about('webp', 96), about('jpeg', 80), about('png', 64), about('png', 64)]);
  t.ok(lastCall().mask);
  t.match(lastCall(), { width: 1024, height: 1024 }, "the model's default size, not the first picture's");
  t.match(events.at(-1), { quantities: { megapixels: '0.003072' } }, 'what was sent along is not billed');

  const forms = [
    formOf({ image: jpeg }),
    formOf({ image: [jpeg, webp] }),
    formOf({ 'image[]': [webp, jpeg] }),
    formOf({ 'image[0]': jpeg, 'image[1]': png, mask: png }),
    formOf({
      'image[]': jpeg,
      input_references: JSON.stringify([{ type: 'image_url', image_url: { url } }]),
    }),
  ];
  const widths = [];
  for (const form of forms) {
    const fields = {
      prompt: 'Make it blue',
      model: edit,
      n: '2',
      size: '1024x768',
      output_format: 'webp',
      output_compression: '70',
      background: 'transparent',
      seed: '12',
      steps: '30',
      guidance_scale: '2.5',
      negative_prompt: 'rain',
      provider: '{"options":{"steps":9}}',
      stream: 'false',
      quality: 'high',
    };
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const said = await post('/images/edits', form);
    t.equal(said.status, 200, said.text.slice(0, 300));
    const { references, mask, ...call } = lastCall();
    t.same(call, {
      prompt: 'Make it blue',
      n: 2,
      width: 1024,
      height: 768,
      seed: 12n,
      steps: 30,
      guidanceScale: 2.5,
      negativePrompt: 'rain',
      outputFormat: 'webp',
      outputCompression: 70,
      background: 'transparent',
    });
    widths.push([references.map(({ width }) => width), mask?.width]);
  }
  t.same(widths, [
    [[80], undefined],
    [[80, 96], undefined],
    [[96, 80], undefined],
    [[80, 64], 64],
    [[80, 96], undefined],
  ]);
});

t.test('response fields match the bytes', async (t) => {
  t.teardown(() => play(undefined));
  const jpeg = await plain('jpeg', { width: 320, height: 200 });
  const clear = await plain('webp', { alpha: 0.5 });
  const solid = await plain('png', { alpha: 1 });
  const ask = async (...images: readonly Drawn[]) => {
    play(() => of(...images));
    return answerOf(await post('/images', { prompt: 'x', n: images.length }));
  };
  t.match(await ask(drawnOf(jpeg)), {
    data: [{ b64_json: jpeg.toString('base64'), media_type: 'image/jpeg' }],
    size: '320x200',
    output_format: 'jpeg',
    background: 'opaque',
    usage: { megapixels: 0.064, cost: 0.00032 },
  });
  t.match(await ask(drawnOf(clear)), { output_format: 'webp', background: 'transparent' });
  t.match(
    await ask(drawnOf(solid)),
    { output_format: 'png', background: 'opaque' },
    'an alpha channel alone is none',
  );
  t.match(await ask(drawnOf(clear), drawnOf(solid, 1)), { background: 'opaque' }, 'both would have to be');
  t.match(
    await ask(drawnOf(solid, 1, 'Ein “roter” Fuchs 🦊'), drawnOf(jpeg, 0)),
    {
      data: [
        { media_type: 'image/jpeg' },
        { media_type: 'image/png', revised_prompt: 'Ein “roter” Fuchs 🦊' },
      ],
    },
    'in the order of their places',
  );

  // What the engine gave as base64 goes out as the same characters, however long.
  const large = await sharp({ create: { width: 900, height: 900, channels: 3, background: 'red' } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const characters = Buffer.from(large.toString('base64'));
  const image = encodedMedia(characters, undefined, { field: 'b64_json', maxBytes: 10_000_000 });
  const said = await ask({ index: 0, image, revisedPrompt: undefined });
  t.equal(said.data[0]?.b64_json, characters.toString());
  play(() => of({ index: 0, image, revisedPrompt: undefined }));
  const linked = answerOf(await post('/images', { prompt: 'x', response_format: 'url' }));
  t.ok(large.equals(Buffer.from(await (await fetch(linked.data[0]?.url ?? '')).arrayBuffer())));
});

t.test('steps scale the bill if the model says so', async (t) => {
  play((_model, { n }) => of(...Array.from({ length: n }, (_, index) => drawnOf(wide, index))));
  t.teardown(() => play(undefined));
  const wide = await plain('png', { width: 1248, height: 832 });
  for (const [fields, megapixels, cost] of [
    [{}, '1.038336', '0.02076672'],
    [{ steps: 1 }, '0.0519168', '0.001038336'],
    [{ num_inference_steps: 37 }, '1.9209216', '0.038418432'],
    [{ steps: 50, n: 3 }, '7.78752', '0.1557504'],
  ] as const) {
    const said = await post('/images', { prompt: 'x', model: edit, ...fields });
    t.ok(said.text.includes(`"cost":${cost},"megapixels":${megapixels}}`), said.text.slice(-120));
    t.match(events.at(-1), { quantities: { megapixels }, cost, price: { completion: '0.02' } });
  }
});

t.test('a stream: one event, then its end', async (t) => {
  const before = events.length;
  for (const path of ['/images', '/images/generations', '/images/edits']) {
    const said = await post(path, {
      prompt: 'A red fox',
      model: edit,
      size: '512x512',
      stream: true,
      response_format: 'url',
      images: [{ image_url: dataUri(small) }],
    });
    t.match(said.type, /^text\/event-stream/);
    const [event = '', data = '', gap, done, ...rest] = said.text.split('\n');
    t.same([event, gap, done, ...rest], ['event: image_generation.completed', '', 'data: [DONE]', '', '']);
    const completed = JSON.parse(data.slice('data: '.length));
    t.ok(isCompleted.Check(completed), JSON.stringify(isCompleted.Errors(completed)));
    t.equal(completed.created, completed.created_at);
    t.match(completed, {
      media_type: 'image/png',
      size: '512x512',
      background: 'opaque',
      usage: { megapixels: 0.262144 },
    });
    const { width, height } = await pictureOf(completed).metadata();
    t.same([width, height], [512, 512]);
  }
  t.same(
    events.slice(before).map(({ outcome, route }) => [outcome, route]),
    [
      ['completed', '/images'],
      ['completed', '/images/generations'],
      ['completed', '/images/edits'],
    ],
  );
});

t.test('failures have their own status, one usage event and no charge', async (t) => {
  t.teardown(() => play(undefined));
  const without = envelope(
    502,
    'The model answered without an image',
    'server_error',
    'provider_unavailable',
  );
  const busy = envelope(503, 'The engine is busy', 'server_error', 'provider_overloaded');
  const cases: readonly [string, () => Observable<Drawn>, number, object][] = [
    ['no image', () => EMPTY, 1, without],
    ['too few', () => of(drawnOf(small)), 2, without],
    ['no bytes', () => of(drawnOf(Buffer.alloc(0))), 1, without],
    ['something else', () => of(drawnOf(Buffer.from('<html>busy</html>'.repeat(100)))), 1, without],
    ['a head only', () => of(drawnOf(small.subarray(0, 20))), 1, without],
    ['fails', () => failed(fail('unavailable', 'The engine is busy')), 1, busy],
    [
      'fails after one',
      () => concat(of(drawnOf(small)), failed(fail('unavailable', 'The engine is busy'))),
      2,
      busy,
    ],
  ];
  for (const [name, engine, n, expected] of cases)
    for (const fields of [{}, { response_format: 'url' }, ...(n === 1 ? [{ stream: true }] : [])]) {
      play(engine);
      const before = events.length;
      const said = await post('/images', { prompt: 'x', n, ...fields });
      t.same(JSON.parse(said.text), expected, `${name} ${JSON.stringify(fields)}`);
      t.match(events.slice(before), [{ outcome: 'failed', status: said.status, cost: '0' }]);
      t.equal(events.length, before + 1);
    }
  play(undefined);
  const sim = await post('/images', { prompt: '/sim fail=503@0\nA red fox' });
  t.equal(sim.status, 503, sim.text);
});

t.test('files that cannot be stored are not billed', async (t) => {
  play(drawSmall);
  const { blobs } = gateway.ports;
  const put = blobs.put.bind(blobs);
  blobs.put = () => Promise.reject(fail('unavailable', 'Files cannot be kept at the moment; retry'));
  t.teardown(() => {
    blobs.put = put;
    play(undefined);
  });
  const said = await post('/images/generations', { prompt: 'x' });
  t.same(
    JSON.parse(said.text),
    envelope(503, 'Files cannot be kept at the moment; retry', 'server_error', 'provider_overloaded'),
  );
  t.match(events.at(-1), { outcome: 'failed', status: 503, cost: '0' });
});

t.test('a disconnect stops the engine, and decoded images are billed', async (t) => {
  const { pictures } = gateway.ports;
  const own = pictures.for;
  t.teardown(() => {
    play(undefined);
    pictures.for = own;
  });
  for (const [first, cost] of [
    [EMPTY, '0'],
    [of(drawnOf(small)), '0.00001536'],
  ] as const) {
    const client = new AbortController();
    let wasLeft = false;
    pictures.for = (subscription) => ({
      ...own(subscription),
      isTransparent: async (...given) => {
        const found = await own(subscription).isTransparent(...given);
        setImmediate(() => client.abort());
        return found;
      },
    });
    play(() =>
      concat(
        first,
        new Observable<Drawn>(() => {
          if (first === EMPTY) client.abort();
          return () => {
            wasLeft = true;
          };
        }),
      ),
    );
    const before = events.length;
    await t.rejects(post('/images', { prompt: 'x', n: 2 }, client.signal));
    await eventually(() => events.length > before, 'the usage event');
    t.ok(wasLeft);
    t.match(events.slice(before), [{ outcome: 'cancelled', status: 499, cost }]);
  }
});
