/** Tests image rules without sockets: capabilities, sizes, image headers and stream timeouts. */
import { rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { pipe, Subject, throwError } from 'rxjs';
import sharp from 'sharp';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { record } from '../../pipelines/core/meter.ts';
import { type FramedReply, writePaced } from '../../pipelines/core/paced-bytes.ts';
import { lift } from '../../pipelines/core/stage.ts';
import { imageAccount } from '../../pipelines/images/account.ts';
import type { StoredImage } from '../../pipelines/images/drawn-images.ts';
import { frameImages } from '../../pipelines/images/frame.ts';
import type { ImageTask } from '../../pipelines/images/load-images.ts';
import { ImageEndpoints, ImageModelList } from '../../schemas/image.ts';
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import { defaultCatalog } from '../../src/catalog/default-catalog.ts';
import { defaultImage, editImage } from '../../src/catalog/image-models.ts';
import { resolveRow } from '../../src/catalog/resolve-row.ts';
import { fail } from '../../src/errors.ts';
import { billedMegapixels } from '../../src/images/megapixels.ts';
import { pictureHead } from '../../src/images/picture-head.ts';
import { hasRatio, parseSize, sizeFault } from '../../src/images/pixel-size.ts';
import { specFault } from '../../src/images/spec.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import { plainMedia } from '../../src/media/media-data.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { caller, exchange, lease, usageLog } from '../chat/fixtures.ts';
import { imageCall } from '../engines/image-calls.ts';
import { envelope } from '../envelope.ts';
import { eventually } from '../eventually.ts';
import { plain, startImages } from './drawing.ts';

/** A map in braces may not run over lines that begin further left. */
const row = (spec: string): string => `
models:
  acme/draw: { kind: image, engine: simulator, name: Draw, pricing: { completion: '0.003' }${spec.replaceAll('\n', ' ')} }
  acme/other: { kind: image, engine: simulator, private: true${spec.replaceAll('\n', ' ')} }
defaults: { image: acme/draw }
`;
const first = row(`, capabilities: { image: {
  max_prompt_length: 10, streaming: false, parameters: {
    size: { type: constraint, multiple_of: 8, min_area: 4096, max_area: 90000, max_ratio: 2, max_total_area: 100000, default: 256x256 },
    n: { type: range, min: 1, max: 2, also: [4] },
    output_format: { type: enum, values: [webp, png], default: webp } } } }`);
const second = row(`, capabilities: { image: {
  max_prompt_length: 20, streaming: true, step_scaling: { per_step: '0.125' }, parameters: {
    size: { type: constraint, multiple_of: 64, min_area: 4096, max_area: 1000000, max_ratio: 2, default: 128x128 },
    seed: { type: boolean },
    output_format: { type: enum, values: [png] },
    steps: { type: range, min: 2, max: 6, default: 4, aliases: [iterations] } } } }`);
const contradictory = first.replace('default: 256x256', 'default: 512x512');

t.test('another spec gives other rules, another entry and another record', async (t) => {
  const { gateway, post, get, calls } = await startImages({ catalog: first });
  t.teardown(() => gateway.stop());
  const ask = async (fields: object) => {
    const said = await post('/images', { prompt: 'x', ...fields });
    return said.status === 200 ? '200' : `${said.status} ${JSON.parse(said.text).error.message}`;
  };
  const shown = async () => {
    const list = JSON.parse((await get('/images/models')).text);
    const record = JSON.parse((await get('/images/models/any/draw/endpoints')).text);
    t.ok(Compile(ImageModelList).Check(list));
    t.ok(Compile(ImageEndpoints).Check(record));
    t.same(
      list.data.map(({ id }: { id: string }) => id),
      ['acme/draw'],
      'the private one is not shown',
    );
    for (const path of ['acme/draw', 'x/acme%2Fdraw'])
      t.same(JSON.parse((await get(`/images/models/${path}/endpoints`)).text), record, path);
    for (const name of ['acme/other', 'acme/none']) {
      const said = await get(`/images/models/${name}/endpoints`);
      const message = `No image model named "${name}" is served`;
      t.same(
        [said.status, JSON.parse(said.text)],
        [404, envelope(404, message, 'not_found_error', 'not_found')],
      );
    }
    t.same(list.data[0].supported_parameters, record.endpoints[0].supported_parameters);
    t.equal(list.data[0].endpoints, '/v1/images/models/acme/draw/endpoints');
    return {
      parameters: list.data[0].supported_parameters,
      streaming: [list.data[0].supports_streaming, record.endpoints[0].supports_streaming],
      passthrough: record.endpoints[0].allowed_passthrough_parameters,
    };
  };
  t.same(await shown(), {
    parameters: {
      prompt: { type: 'string', max_length: 10 },
      response_format: { type: 'enum', values: ['url', 'b64_json'] },
      size: {
        type: 'constraint',
        multiple_of: 8,
        min_area: 4096,
        max_area: 90_000,
        max_ratio: 2,
        max_total_area: 100_000,
        default: '256x256',
      },
      n: { type: 'range', min: 1, max: 2, also: [4] },
      output_format: { type: 'enum', values: ['webp', 'png'], default: 'webp' },
    },
    streaming: [false, false],
    passthrough: [],
  });
  const model = 'is not supported by model acme/draw';
  for (const [fields, outcome] of [
    [{}, '200'],
    [{ prompt: 'eleven char' }, '400 prompt must have at most 10 characters'],
    [{ n: 4, size: '128x128' }, '200'],
    [{ n: 3 }, '400 n must be between 1 and 2 or 4'],
    [{ n: 2 }, '400 n images of size 256x256 must have at most 100000 pixels together, not 131072'],
    [{ size: '1K' }, '400 size must be WIDTHxHEIGHT, such as 256x256, or auto'],
    [{ size: '200x200', model: 'acme/other' }, '200'],
    [{ size: '200x204' }, '400 size must have sides that are multiples of 8'],
    [{ output_format: 'jpeg' }, '400 output_format must be one of "webp", "png"'],
    [{ stream: true }, `400 stream ${model}`],
    [{ steps: 4 }, `400 steps ${model}`],
    [{ num_inference_steps: 4 }, `400 num_inference_steps ${model}`],
    [{ guidance_scale: 1 }, `400 guidance_scale ${model}`],
    [{ negative_prompt: 'x' }, `400 negative_prompt ${model}`],
    [{ seed: 1 }, `400 seed ${model}`],
    [{ aspect_ratio: '1:1' }, `400 aspect_ratio ${model}`],
    [{ resolution: '1K' }, `400 resolution ${model}`],
    [{ background: 'auto' }, `400 background ${model}`],
    [{ output_compression: 50 }, `400 output_compression ${model}`],
    [
      { provider: { options: { steps: 4 } } },
      '400 provider.options.steps is not supported: the model takes no options',
    ],
  ] as const)
    t.equal(await ask(fields), outcome, JSON.stringify(fields));
  const free = await post('/images', { prompt: 'x', size: '200x200', model: 'acme/other' });
  t.match(free.text, '"cost":0,"megapixels":0.04}', 'a model without a price');

  writeFileSync(gateway.configFile, second);
  gateway.reload();
  t.match(await shown(), {
    parameters: {
      prompt: { max_length: 20 },
      size: { multiple_of: 64 },
      seed: { type: 'boolean' },
      steps: { type: 'range', min: 2, max: 6, default: 4 },
      iterations: { type: 'range', min: 2, max: 6, default: 4 },
      stream: { type: 'boolean' },
    },
    streaming: [true, true],
    passthrough: ['steps', 'iterations'],
  });
  for (const [fields, outcome] of [
    [{ prompt: 'eleven char', iterations: 3, seed: 5 }, '200'],
    [{ n: 1 }, '200'],
    [{ n: 2 }, `400 n ${model}`],
    [{ size: '200x200' }, '400 size must have sides that are multiples of 64'],
    [{ output_format: 'webp' }, '400 output_format must be one of "png"'],
    [{ iterations: 7 }, '400 iterations must be between 2 and 6'],
    [{ num_inference_steps: 4 }, `400 num_inference_steps ${model}`],
  ] as const)
    t.equal(await ask(fields), outcome, JSON.stringify(fields));
  await ask({ provider: { options: { acme: { iterations: 6 } } } });
  t.equal(calls.at(-1)?.steps, 6);
  const billed = await post('/images', { prompt: 'x', steps: 6 });
  t.match(billed.text, '"cost":0.000036864,"megapixels":0.012288}');

  for (const catalog of [row(''), contradictory]) {
    writeFileSync(gateway.configFile, catalog);
    gateway.reload();
    const said = await post('/images', { prompt: 'x' });
    t.same(
      [said.status, JSON.parse(said.text).error],
      [
        503,
        {
          code: 503,
          message: 'The model acme/draw is not served: it has no valid capability spec',
          type: 'server_error',
          param: null,
          metadata: { error_type: 'provider_overloaded' },
        },
      ],
    );
    t.same(JSON.parse((await get('/images/models')).text), { data: [] });
    t.equal((await get('/images/models/acme/draw/endpoints')).status, 404);
  }
  rmSync(gateway.configFile);
  gateway.reload();
  for (const path of ['/images/models', '/images/models/acme/draw/endpoints']) {
    t.equal((await get(path)).status, 502, 'a catalog that cannot be read is not an empty one');
    t.equal((await fetch(gateway.url + path)).status, 401, 'a key is needed');
  }
});

t.test('specs of the default catalog are valid, invalid ones are refused', async (t) => {
  for (const spec of [defaultImage, editImage]) t.equal(specFault(spec), undefined);
  const { aspect_ratio, resolution } = defaultImage.parameters;
  for (const label of resolution?.values ?? [])
    for (const ratio of aspect_ratio?.values ?? []) {
      const size = parseSize(resolution?.sizes[label]?.[ratio] ?? '') ?? { width: 0, height: 0 };
      t.ok(
        hasRatio(size, ratio) && sizeFault(size, defaultImage.parameters.size) === undefined,
        `${label} ${ratio}`,
      );
    }
  const change = (parameters: Partial<ImageCapabilities['parameters']>): ImageCapabilities => ({
    ...defaultImage,
    parameters: { ...defaultImage.parameters, ...parameters },
  });
  const { resolution: _, ...withoutTable } = defaultImage.parameters;
  const { size } = defaultImage.parameters;
  const faults: readonly [ImageCapabilities, string][] = [
    [
      change({ size: { ...size, default: '1000x1000' } }),
      'size.default must have sides that are multiples of 16',
    ],
    [
      change({ size: { ...size, min_area: 2_000_000 } }),
      'size.default must have an area of 2000000 to 4194304 pixels, not 1048576',
    ],
    [
      change({ size: { ...size, multiple_of: 64 } }),
      'resolution.sizes.512.3:2 must have sides that are multiples of 64',
    ],
    [change({ n: { type: 'range', min: 5, max: 1 } }), 'n must have a range that holds its default'],
    [
      change({ steps: { type: 'range', min: 1, max: 5, default: 6 } }),
      'steps must have a range that holds its default',
    ],
    [
      change({ output_format: { type: 'enum', values: ['png'], default: 'webp' } }),
      'output_format.default must be one of its values',
    ],
    [change({ mask: { type: 'boolean' } }), 'mask needs input_references'],
    [
      change({ aspect_ratio: { type: 'enum', values: ['1:1'], default: '2:1' } }),
      'aspect_ratio.default must be one of its values',
    ],
    [
      change({ aspect_ratio: { type: 'enum', values: ['1:1', '2:1'], default: '1:1' } }),
      'resolution.sizes.512.2:1 is missing',
    ],
    [{ ...defaultImage, parameters: withoutTable }, 'aspect_ratio and resolution need each other'],
    [
      change({ steps: { type: 'range', min: 1, max: 5, aliases: ['seed'] } }),
      'seed is the name of two parameters',
    ],
    [
      { ...change({ steps: { type: 'range', min: 1, max: 5 } }), step_scaling: { per_step: '1' } },
      'step_scaling needs steps with a default',
    ],
  ];
  for (const [spec, fault] of faults) t.equal(specFault(spec), fault);
  t.same(
    defaultCatalog.models
      .filter(({ kind }) => kind === 'image')
      .map(({ id, per_request_limits }) => [id, per_request_limits]),
    [
      ['sluice/image', { max_prompt_length: 4000, max_images: 10 }],
      ['sluice/image-edit', { max_prompt_length: 8000, max_images: 10, max_input_references: 10 }],
    ],
  );
});

t.test('image headers agree with a decoder', async (t) => {
  for (const format of ['png', 'jpeg', 'webp'] as const)
    for (const channels of [3, 4] as const)
      for (const options of [{}, { lossless: true }, { progressive: true }, { palette: true }]) {
        const [width, height] = [37 + channels, 91];
        const bytes = await sharp({
          create: { width, height, channels, background: { r: 9, g: 200, b: 30, alpha: 0.5 } },
        })
          .toFormat(format, options)
          .withMetadata({ exif: { IFD0: { Copyright: 'x'.repeat(3000) } } })
          .toBuffer();
        t.same(
          pictureHead(bytes),
          { mediaType: `image/${format}`, width, height, hasAlpha: channels === 4 && format !== 'jpeg' },
          `${format} ${channels} ${JSON.stringify(options)}`,
        );
      }
  const whole = await plain('png');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(8), (bytes, kept) => {
      const head = pictureHead(Buffer.concat([whole.subarray(0, kept), bytes]));
      return head === undefined || (head.width > 0 && head.height > 0);
    }),
  );
});

t.test('megapixels are exact; long base64 is decoded to the same bytes', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50_000_000 }),
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 999 }),
      (pixels, steps, thousandths) => {
        const per_step = `0.${String(thousandths).padStart(3, '0')}`;
        const [whole = '0', fraction = ''] = billedMegapixels(pixels, steps, { per_step }).split('.');
        return (
          BigInt(whole + fraction.padEnd(9, '0')) === BigInt(pixels) * BigInt(steps) * BigInt(thousandths)
        );
      },
    ),
  );
  const bytes = Buffer.alloc(3_000_001, 'any bytes');
  const text = bytes.toString('base64');
  const { signal } = new AbortController();
  for (const base64 of [text, Buffer.from(text), text.slice(0, 400), ''])
    t.ok(
      (await decodeInTicks(base64, signal)).equals(bytes.subarray(0, Math.floor((base64.length * 3) / 4))),
    );
});

const task: ImageTask = {
  model: resolveRow('sluice/image', { engine: 'simulator', kind: 'image' }),
  spec: defaultImage,
  responseFormat: 'b64_json',
  stream: true,
  call: imageCall({ prompt: 'x', width: 64, height: 48, seed: undefined, steps: 8, guidanceScale: 0 }),
};

/** The framing, and what follows it. */
const framed = (patienceMs?: number) => {
  const billed = { exchange: exchange(), caller, task, lease: lease() };
  const admitted = { ...billed, account: imageAccount('/images')(billed) };
  return pipe(
    lift(frameImages(patienceMs), admitted),
    lift(record<FramedReply>(usageLog().usage), admitted),
    lift(writePaced, admitted),
  );
};

t.test('a failure after the start of a stream is an event in it', async (t) => {
  const image: StoredImage = {
    index: 0,
    image: plainMedia(await plain('png')),
    revisedPrompt: undefined,
    mediaType: 'image/png',
    width: 64,
    height: 48,
    hasAlpha: true,
    isTransparent: false,
    url: undefined,
  };
  const textOf = (reply: Reply | undefined): string =>
    reply?.kind === 'bytes' ? Buffer.from(reply.bytes).toString() : (reply?.kind ?? '');
  const begun = async () => {
    const source = new Subject<StoredImage>();
    const replies: Reply[] = [];
    let end = '';
    source.pipe(framed(1)).subscribe({
      next: (reply) => replies.push(reply),
      complete: () => {
        end = 'completed';
      },
      error: () => {
        end = 'failed';
      },
    });
    await eventually(() => replies.length > 0, 'the head');
    t.match(replies[0], { kind: 'head', status: 200, keepAlive: ':\n\n' });
    return { source, replies, ended: () => eventually(() => end === 'completed', 'the end') };
  };

  const late = await begun();
  late.source.error(fail('unavailable', 'The engine is busy'));
  await late.ended();
  t.equal(late.replies.length, 2);
  t.equal(
    textOf(late.replies[1]),
    'event: error\ndata: {"type":"error","error":{"code":"503","message":"The engine is busy","type":"server_error",' +
      '"param":null,"metadata":{"error_type":"provider_overloaded"}}}\n\ndata: [DONE]\n\n',
  );

  const slow = await begun();
  slow.source.next(image);
  slow.source.complete();
  await slow.ended();
  t.match(textOf(slow.replies[1]), /^event: image_generation\.completed\ndata: .*\n\ndata: \[DONE\]\n\n$/);

  const early: unknown[] = [];
  throwError(() => fail('unavailable', 'The engine is busy'))
    .pipe(framed())
    .subscribe({ next: (reply) => early.push(reply), error: (error) => early.push(error.status) });
  t.same(early, [503], 'before it, it has its own status');
});
