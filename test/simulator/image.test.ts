/** Tests simulated images: content, determinism and `/sim` directives. */
import t from 'tap';
import type { ImageCall } from '../../src/ports/engines/image.ts';
import { captionOf } from '../../src/simulator/images/caption.ts';
import { glyphOf, plainText } from '../../src/simulator/images/font.ts';
import { startSimulatorServer } from '../../src/simulator/server/server.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import {
  drawnBy,
  flow,
  imageCall,
  inputImage,
  pixelsOf,
  plainPicture,
  rightHalfMask,
} from '../engines/image-calls.ts';
import { sampleModel } from '../samples.ts';

const simulator = createSimulator();
const imageModel = sampleModel({ kind: 'image' });
const draw = (change: Partial<ImageCall> = {}) =>
  drawnBy(simulator.image?.(imageModel, imageCall(change), flow));
const drawOne = async (change: Partial<ImageCall> = {}): Promise<Buffer> => {
  const [drawn] = await draw({ ...change, n: 1 });
  return drawn?.image.bytes ?? Buffer.alloc(0);
};

t.test('files have the requested format and size', async (t) => {
  for (const outputFormat of ['png', 'jpeg', 'webp'] as const)
    for (const [width, height] of [
      [256, 192],
      [16, 16],
      [80, 512],
    ] as const) {
      const [drawn] = await draw({ outputFormat, width, height });
      t.equal(drawn?.image.mediaType, `image/${outputFormat}`);
      const file = await pixelsOf(drawn?.image.bytes ?? Buffer.alloc(0));
      t.match(file, { format: outputFormat, width, height, hasAlpha: false });
    }
  const small = await drawOne({ outputFormat: 'jpeg', outputCompression: 0 });
  const large = await drawOne({ outputFormat: 'jpeg', outputCompression: 100 });
  t.ok(small.length * 2 < large.length, `${small.length} and ${large.length} bytes`);
});

t.test('the same fields give the same image, others another one', async (t) => {
  const first = await drawOne();
  t.ok(first.equals(await drawOne()));
  const reference = await plainPicture([200, 30, 30]);
  const changes: readonly Partial<ImageCall>[] = [
    { prompt: 'A lighthouse at dawn' },
    { seed: 43n },
    { seed: 42n + 2n ** 60n },
    { seed: -42n },
    { steps: 8 },
    { guidanceScale: 3.5 },
    { negativePrompt: 'rain' },
    { width: 272 },
    { references: [reference] },
    { references: [reference, await plainPicture([30, 200, 30])] },
    { references: [reference], mask: await rightHalfMask() },
    { background: 'transparent' },
  ];
  const files = [first, ...(await Promise.all(changes.map(drawOne)))];
  t.equal(new Set(files.map((file) => file.toString('base64'))).size, files.length);
  t.notOk((await drawOne({ seed: undefined })).equals(await drawOne({ seed: undefined })), 'a rolled seed');
});

t.test('images of one call differ, and change with their number', async (t) => {
  const three = await draw({ n: 3 });
  t.strictSame(
    three.map(({ index }) => index),
    [0, 1, 2],
  );
  const texts = (images: typeof three) => images.map(({ image }) => image.bytes.toString('base64'));
  t.equal(new Set(texts(three)).size, 3);
  t.strictSame(texts(await draw({ n: 3 })), texts(three), 'and are the same again');
  const two = texts(await draw({ n: 2 }));
  t.notOk(texts(three).includes(two[0] ?? ''));
});

t.test('the prompt can be read', async (t) => {
  const caption = captionOf('Hi!', '8x8', { width: 200, height: 200 });
  const picture = Array.from({ length: caption?.height ?? 0 }, (_, y) =>
    Array.from({ length: caption?.width ?? 0 }, (_, x) =>
      caption?.data[(y * caption.width + x) * 4] === 255 ? '#' : '.',
    ).join(''),
  );
  t.strictSame(
    picture.slice(4, 11).map((row) => row.slice(3, 20)),
    [
      '#...#...#.....#..',
      '#...#.........#..',
      '#...#..##.....#..',
      '#####...#.....#..',
      '#...#...#.....#..',
      '#...#...#........',
      '#...#..###....#..',
    ],
  );
  t.equal(plainText('  Crème\tbrûlée\n😀 ﬁn '), 'Creme brulee \ufffd fin');
  t.strictSame(glyphOf('\ufffd'), [31, 17, 17, 17, 17, 17, 31], 'a box for what the font has not');
  for (let code = 0x21; code < 0x7f; code++) {
    const glyph = glyphOf(String.fromCharCode(code));
    t.ok(glyph.length === 7 && glyph.some((row) => row > 0), String.fromCharCode(code));
  }
  t.equal(captionOf('Hi', '', { width: 20, height: 20 }), undefined, 'too small for a line');
  const long = captionOf('word '.repeat(5000), '', { width: 512, height: 512 });
  t.ok(long !== undefined && long.height * long.scale <= 512 * 0.75);
});

t.test('a transparent background is transparent', async (t) => {
  for (const outputFormat of ['png', 'webp'] as const) {
    const file = await pixelsOf(await drawOne({ background: 'transparent', outputFormat }));
    t.equal(file.hasAlpha, true);
    t.equal(file.at(0, 0)[3], 0);
    t.equal(file.at(255, 191)[3], 0);
    t.equal(file.at(128, 20)[3], 255);
  }
  t.equal((await pixelsOf(await drawOne({ background: 'opaque' }))).hasAlpha, false);
});

t.test('edits show their input image', async (t) => {
  const red = await plainPicture([250, 0, 0], 300, 300, 'jpeg');
  const veiled = await pixelsOf(await drawOne({ references: [red], seed: 7n }));
  for (const [x, y] of [
    [2, 190],
    [250, 5],
  ] as const) {
    const [r = 0, g = 0, b = 0] = veiled.at(x, y);
    t.ok(r > g && r > b, `red shines through: ${r} ${g} ${b}`);
  }
  const green = await plainPicture([0, 250, 0]);
  const several = await pixelsOf(await drawOne({ references: [red, green] }));
  const [r = 0, g = 0, b = 0] = several.at(5, 5);
  t.ok(g > 200 && r < 60 && b < 60, `the second in the corner: ${r} ${g} ${b}`);
});

t.test('a mask keeps opaque areas and changes transparent ones', async (t) => {
  const red = await plainPicture([250, 0, 0]);
  const file = await pixelsOf(
    await drawOne({ references: [red], mask: await rightHalfMask(), prompt: 'Something else' }),
  );
  for (const [x, y] of [
    [0, 0],
    [60, 96],
    [120, 191],
  ] as const)
    t.strictSame(file.at(x, y), [250, 0, 0, 255], `kept at ${x},${y}`);
  for (const [x, y] of [
    [140, 5],
    [250, 185],
  ] as const)
    t.notSame(file.at(x, y), [250, 0, 0, 255], `changed at ${x},${y}`);
});

t.test('an unreadable image is a client error', async (t) => {
  const broken = inputImage(Buffer.from('\x89PNG\r\n\x1a\nno more of it', 'latin1'), 1, 1);
  await t.rejects(draw({ references: [broken] }), { message: 'An input image cannot be read' });
  const good = await plainPicture([1, 2, 3]);
  await t.rejects(draw({ references: [good, broken] }), { message: 'An input image cannot be read' });
  await t.rejects(draw({ references: [good], mask: broken }), { message: 'An input image cannot be read' });
});

t.test('the /sim line delays and fails, and is not drawn', async (t) => {
  await t.rejects(draw({ prompt: '/sim fail=503\nA cat' }), { message: 'Simulated failure 503' });
  await t.rejects(draw({ prompt: '/sim drop@0' }), { message: 'The engine closed the connection' });
  await t.rejects(draw({ prompt: '/sim nonsense=1' }), { message: /^prompt: unknown \/sim directive/ });
  t.ok((await drawOne({ prompt: '/sim first=5ms\nA cat' })).equals(await drawOne({ prompt: 'A cat' })));
});

t.test('unsubscribing stops the drawing', async (t) => {
  let images = 0;
  await new Promise<void>((resolve) => {
    const drawing = simulator.image?.(imageModel, imageCall({ n: 10 }), flow).subscribe(() => {
      images += 1;
      drawing?.unsubscribe();
      resolve();
    });
  });
  await drawOne();
  t.equal(images, 1);
});

t.test('over HTTP', async (t) => {
  const server = await startSimulatorServer({ models: ['artist'] });
  t.teardown(() => server.close());
  const post = (path: string, body: string | FormData) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      body,
      ...(typeof body === 'string' ? { headers: { 'content-type': 'application/json' } } : {}),
    });
  const answerOf = async (response: Response) => {
    t.equal(response.status, 200);
    return (await response.json()) as { data: { b64_json?: string; url?: string }[] };
  };

  const fields = '"model":"artist","prompt":"A lighthouse at dusk","size":"256x192"';
  const plain = await answerOf(
    await post('/images/generations', `{${fields},"seed":9223372036854775807,"n":2}`),
  );
  const expected = await draw({ seed: 9223372036854775807n, n: 2 });
  t.strictSame(
    plain.data.map(({ b64_json }) => b64_json),
    expected.map(({ image }) => image.bytes.toString('base64')),
    'every digit of the seed counts',
  );
  const linked = await answerOf(await post('/images/generations', `{${fields},"response_format":"url"}`));
  t.match(linked.data[0]?.url, /^data:image\/png;base64,iVBOR/);

  const red = await plainPicture([250, 0, 0]);
  const mask = await rightHalfMask();
  const form = new FormData();
  for (const [name, value] of Object.entries({
    model: 'artist',
    prompt: 'A lighthouse at dusk',
    size: '256x192',
    seed: '42',
    output_format: 'webp',
  }))
    form.set(name, value);
  form.append('image[]', new Blob([new Uint8Array(red.bytes)]), 'red.png');
  form.append('mask', new Blob([new Uint8Array(mask.bytes)]), 'mask.png');
  const edited = await answerOf(await post('/images/edits', form));
  const same = await drawOne({ references: [red], mask, outputFormat: 'webp' });
  t.equal(edited.data[0]?.b64_json, same.toString('base64'));
  const uri = (bytes: Buffer) => ({ image_url: `data:image/png;base64,${bytes.toString('base64')}` });
  const json = JSON.stringify({ images: [uri(red.bytes)], mask: uri(mask.bytes), output_format: 'webp' });
  const alike = await answerOf(await post('/images/edits', `{${fields},"seed":42,${json.slice(1)}`));
  t.strictSame(alike.data, edited.data, 'a form and JSON are the same request');

  for (const [body, message] of [
    ['{"model":"artist"}', 'prompt is missing'],
    ['{"model":"artist","prompt":"x","size":"big"}', 'size must be a size such as 1024x1024'],
    ['{"model":"artist","prompt":"x","n":11}', 'n must be from 1 to 10'],
    ['{"model":"artist","prompt":"x","output_format":"gif"}', 'output_format must be one of png, jpeg, webp'],
    ['[]', 'The body must be an object'],
  ] as const) {
    const refused = await post('/images/generations', body);
    t.equal(refused.status, 400, message);
    t.match(await refused.json(), { error: { message } });
  }
  t.equal((await post('/images/generations', '{"model":"other","prompt":"x"}')).status, 404);
  t.equal((await post('/images/generations', '{"model":"artist","prompt":"/sim fail=503"}')).status, 503);
  await t.rejects(post('/images/generations', '{"model":"artist","prompt":"/sim drop@0"}'));
});
