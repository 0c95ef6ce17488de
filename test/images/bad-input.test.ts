/** Tests that invalid image requests, JSON and form, are refused with the field's name. */
import t from 'tap';
import { envelope } from '../envelope.ts';
import { onlyLong } from '../long.ts';
import { claiming, dataUri, formOf, noise, plain, refused, startImages, tooLarge } from './drawing.ts';

const { gateway, calls, events, post } = await startImages();
t.teardown(() => gateway.stop());

const edit = 'sluice/image-edit';
const png = await plain('png');
const uri = dataUri(png);
const reference = { type: 'image_url', image_url: { url: uri } };
const routes = ['/images', '/images/generations', '/images/edits'];

const formats = 'must be one of "png", "jpeg", "webp"';
const ratios =
  'must be one of "1:1", "3:2", "2:3", "4:3", "3:4", "5:4", "4:5", "16:9", "9:16", "21:9", "9:21"';
const labels = 'must be one of "512", "768", "1K", "1.5K", "2K"';
const sizes = 'size must be WIDTHxHEIGHT, such as 1024x1024, or auto, 512, 768, 1K, 1.5K, 2K';
const area = (pixels: number) => `must have an area of 65536 to 4194304 pixels, not ${pixels}`;
const seeds = 'seed must be between -9223372036854775808 and 9223372036854775807, written in digits';
const options = 'the model takes steps, num_inference_steps, guidance_scale, negative_prompt';

/** Fields beside a good prompt on the default model, and the message; `text` is how a form says the same. */
const scalar: readonly [fields: Record<string, unknown>, message: string, text?: Record<string, string>][] = [
  [{ prompt: '' }, 'prompt must not be empty'],
  [{ prompt: 'é'.repeat(4001) }, 'prompt must have at most 4000 characters'],
  [{ prompt: '😀'.repeat(4001) }, 'prompt must have at most 4000 characters'],
  [{ n: 0 }, 'n must be between 1 and 10'],
  [{ n: 11 }, 'n must be between 1 and 10'],
  [{ n: -1 }, 'n must be between 1 and 10'],
  [{ n: 1.5 }, 'n must be an integer'],
  [{ n: 'two' }, 'n must be an integer'],
  [{ response_format: 'png' }, 'response_format must be one of "url", "b64_json"'],
  [{ size: 'large' }, sizes],
  [{ size: '4K' }, sizes],
  [{ size: '1024' }, sizes],
  [{ size: '1024X1024' }, sizes],
  [{ size: '1024x1024x3' }, sizes],
  [{ size: '01024x1024' }, sizes],
  [{ size: '-1024x1024' }, sizes],
  [{ size: ' 1024x1024' }, sizes],
  [{ size: '' }, sizes],
  [{ size: '1000x1024' }, 'size must have sides that are multiples of 16'],
  [{ size: '1024x1030' }, 'size must have sides that are multiples of 16'],
  [{ size: '240x256' }, `size ${area(61_440)}`],
  [{ size: '2048x2064' }, `size ${area(4_227_072)}`],
  [{ size: '2064x512' }, 'size must have a longer side of at most 4 times the shorter'],
  [{ size: '512x2064' }, 'size must have a longer side of at most 4 times the shorter'],
  [{ width: 1024 }, 'height is required beside width'],
  [{ height: 1024 }, 'width is required beside height'],
  [{ width: 1000, height: 1024 }, 'width and height must have sides that are multiples of 16'],
  [{ width: 16, height: 16 }, `width and height ${area(256)}`],
  [{ width: 0, height: 1024 }, 'width must be at least 1'],
  [{ width: 1024.5, height: 1024 }, 'width must be an integer'],
  [{ width: 512, height: 512, size: '1024x1024' }, 'width and height must agree with size 1024x1024'],
  [{ width: 512, height: 512, size: '1K' }, 'resolution 1K does not agree with size 512x512'],
  [{ aspect_ratio: '7:5' }, `aspect_ratio ${ratios}`],
  [{ aspect_ratio: 'square' }, `aspect_ratio ${ratios}`],
  [{ aspect_ratio: '16:9', size: '1024x1024' }, 'aspect_ratio 16:9 does not agree with size 1024x1024'],
  [{ aspect_ratio: '3:2', width: 512, height: 512 }, 'aspect_ratio 3:2 does not agree with size 512x512'],
  [{ resolution: '4K' }, `resolution ${labels}`],
  [{ resolution: '1k' }, `resolution ${labels}`],
  [{ resolution: '2K', size: '1024x1024' }, 'resolution 2K does not agree with size 1024x1024'],
  [{ resolution: '2K', size: '1K' }, 'resolution must agree with size 1K'],
  [
    { resolution: '1K', aspect_ratio: '16:9', size: '2560x1440' },
    'resolution 1K does not agree with size 2560x1440',
  ],
  [{ seed: 1.5 }, 'seed must be an integer'],
  [{ seed: 'lucky' }, 'seed must be an integer'],
  [{ output_format: 'gif' }, `output_format ${formats}`],
  [{ output_format: 'PNG' }, `output_format ${formats}`],
  [{ output_compression: -1 }, 'output_compression must be between 0 and 100'],
  [{ output_compression: 101 }, 'output_compression must be between 0 and 100'],
  [{ output_compression: 50.5 }, 'output_compression must be an integer'],
  [{ background: 'transparent' }, 'background transparent is not supported by model sluice/image'],
  [{ background: 'white' }, 'background must be one of "auto", "opaque"'],
  [{ steps: 0 }, 'steps must be between 1 and 50'],
  [{ steps: 51 }, 'steps must be between 1 and 50'],
  [{ steps: 2.5 }, 'steps must be an integer'],
  [{ num_inference_steps: 51 }, 'num_inference_steps must be between 1 and 50'],
  [{ steps: 4, num_inference_steps: 51 }, 'num_inference_steps must be between 1 and 50'],
  [{ guidance_scale: -0.1 }, 'guidance_scale must be between 0 and 20'],
  [{ guidance_scale: 20.5 }, 'guidance_scale must be between 0 and 20'],
  [{ guidance_scale: 'much' }, 'guidance_scale must be a number'],
  [{ negative_prompt: 'x'.repeat(4001) }, 'negative_prompt must have at most 4000 characters'],
  [{ stream: true, n: 2 }, 'stream cannot be used with n above 1'],
  [{ stream: 'yes' }, 'stream must be true or false'],
  [{ partial_images: 1 }, 'partial_images must be 0'],
  [{ quality: 'ultra' }, 'quality must be one of "auto", "low", "medium", "high", "standard", "hd"'],
  [{ moderation: 'low' }, 'moderation is not supported'],
  [{ style: 'vivid' }, 'style is not supported'],
  [{ provider: { options: { sampler: 'x' } } }, `provider.options.sampler is not supported: ${options}`],
  [{ provider: { options: { steps: 0 } } }, 'provider.options.steps must be between 1 and 50'],
  [
    { provider: { options: { sluice: { cfg: 1 } } } },
    `provider.options.sluice.cfg is not supported: ${options}`,
  ],
  [
    { provider: { options: { sluice: { num_inference_steps: 99 } } } },
    'provider.options.sluice.num_inference_steps must be between 1 and 50',
  ],
  [{ provider: { options: { guidance_scale: '7' } } }, 'provider.options.guidance_scale must be a number'],
  [{ provider: { options: { negative_prompt: 7 } } }, 'provider.options.negative_prompt must be a string'],
  [{ provider: { options: 'fast' } }, 'provider.options must be an object'],
  [{ provider: [] }, 'provider must be an object'],
  [{ input_references: {} }, 'input_references must be an array'],
  [{ input_references: [{}] }, 'input_references[0].type is required'],
  [{ input_references: [{ type: 'image_url' }] }, 'input_references[0].image_url is required'],
  [
    { input_references: [{ type: 'video_url', video_url: { url: 'https://a.example' } }] },
    'input_references[0].type must be "image_url"',
  ],
  [
    { input_references: [reference] },
    'input_references is not supported by model sluice/image: it takes no reference images',
  ],
  [
    { input_references: [] },
    'input_references is not supported by model sluice/image: it takes no reference images',
  ],
];

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

t.test('fields, as JSON and as a form', async (t) => {
  for (const [index, [fields, message]] of scalar.entries()) {
    const path = routes[index % 2] ?? '';
    const all = { prompt: 'A red fox', ...fields };
    const form = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, textOf(value)]));
    for (const body of [all, formOf(form)]) {
      const said = await post(path, body);
      t.same(
        [said.status, JSON.parse(said.text)],
        [400, refused(message)],
        `${body instanceof FormData ? 'form' : 'JSON'} ${JSON.stringify(fields).slice(0, 80)}`,
      );
    }
  }
});

/** Only JSON can say these. */
const typed: readonly [body: unknown, message: string][] = [
  [{}, 'prompt is required'],
  [{ prompt: null }, 'prompt must be a string'],
  [{ prompt: 7 }, 'prompt must be a string'],
  [{ prompt: ['x'] }, 'prompt must be a string'],
  [{ prompt: 'x', model: 7 }, 'model must be a string'],
  [{ prompt: 'x', n: '1' }, 'n must be an integer'],
  [{ prompt: 'x', size: 1024 }, 'size must be a string'],
  [{ prompt: 'x', resolution: 512 }, 'resolution must be a string'],
  [{ prompt: 'x', width: '512', height: 512 }, 'width must be an integer'],
  [{ prompt: 'x', seed: '7' }, 'seed must be an integer'],
  [{ prompt: 'x', seed: true }, 'seed must be an integer'],
  [{ prompt: 'x', seed: 1e20 }, seeds],
  ['{"prompt":"x","seed":9223372036854775808}', seeds],
  ['{"prompt":"x","seed":-9223372036854775809}', seeds],
  ['{"prompt":"x","seed":1e18}', seeds],
  [{ prompt: 'x', stream: 'true' }, 'stream must be true or false'],
  [{ prompt: 'x', steps: '8' }, 'steps must be an integer'],
  [{ prompt: 'x', negative_prompt: 7 }, 'negative_prompt must be a string'],
  [{ prompt: 'x', image: uri }, 'image must be a file of a form; in JSON, send images'],
  [{ prompt: 'x', images: uri }, 'images must be an array'],
  [{ prompt: 'x', images: [uri] }, 'images[0] must be an object'],
  [
    { prompt: 'x', images: [{ image_url: uri }] },
    'images is not supported by model sluice/image: it takes no reference images',
  ],
  [
    { prompt: 'x', mask: { image_url: uri } },
    'mask is not supported by model sluice/image: it takes no reference images',
  ],
  ['{"prompt":"x"', 'The request body is not valid JSON: unexpected end at line 1 column 14'],
  ['', 'The request body is empty; a JSON object is expected'],
  ['[]', 'The request body must be a JSON object, not an array'],
];

t.test('JSON', async (t) => {
  for (const [index, [body, message]] of typed.entries()) {
    const said = await post(routes[index % 2] ?? '', body);
    t.same([said.status, JSON.parse(said.text)], [400, refused(message)], message);
  }
});

const picture = (url: unknown) => ({ prompt: 'x', model: edit, images: [{ image_url: url }] });
const types = 'must be image/png, image/jpeg or image/webp';
const damaged = 'cannot be read: the picture is damaged';

t.test('images, on a model that accepts them', async (t) => {
  const jpeg = await plain('jpeg', { width: 640, height: 480 });
  const webp = await plain('webp', { width: 640, height: 480 });
  const large = await noise(200);
  const gif = await plain('gif');
  const at = 'images[0].image_url';
  const bodies: readonly [body: unknown, message: string][] = [
    [{ prompt: 'x', model: edit, images: [{}] }, `${at} is required`],
    [
      { prompt: 'x', model: edit, images: [{ file_id: 'file-1' }] },
      'images[0].file_id is not supported; send image_url',
    ],
    [{ prompt: 'x', model: edit, images: [] }, 'images is required'],
    [{ prompt: 'x', model: edit }, 'images is required'],
    [{ prompt: 'x', model: edit, mask: { image_url: uri } }, 'mask needs at least one item in images'],
    [{ ...picture(uri), mask: { file_id: 'file-1' } }, 'mask.file_id is not supported; send image_url'],
    [{ ...picture(uri), mask: uri }, 'mask must be an object'],
    [
      { ...picture(uri), mask: { image_url: dataUri(jpeg, 'image/png') } },
      'mask.image_url must be image/png, not image/jpeg',
    ],
    [
      { prompt: 'x', model: edit, images: Array(11).fill({ image_url: uri }) },
      `images must have at most 10 images for model ${edit}`,
    ],
    [
      {
        prompt: 'x',
        model: edit,
        images: Array(6).fill({ image_url: uri }),
        input_references: Array(5).fill(reference),
      },
      `images must have at most 10 images for model ${edit}`,
    ],
    [picture(7), `${at} must be a string`],
    [picture({ url: 7 }), `${at}.url must be a string`],
    [picture('data:image/png;base64,'), `${at} is empty`],
    [picture('data:image/png;base64,@@@@'), `${at} is not valid base64`],
    [picture('data:image/png,x'), `${at} must be a base64 data URI`],
    [picture(dataUri(gif)), `${at} ${types}, not image/gif`],
    [
      picture(dataUri(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))),
      `${at} ${types}, not something else`,
    ],
    [picture(dataUri(Buffer.from('%PDF-1.7 and so on'))), `${at} ${types}, not application/pdf`],
    [picture(dataUri(Buffer.from('just some text'))), `${at} ${types}, not something else`],
    [picture(dataUri(png.subarray(0, 24))), `${at} ${damaged}`],
    [picture(dataUri(large.subarray(0, large.length / 2))), `${at} ${damaged}`],
    [picture(dataUri(jpeg.subarray(0, jpeg.length / 2))), `${at} ${damaged}`],
    [picture(dataUri(webp.subarray(0, webp.length / 2))), `${at} ${damaged}`],
    [picture(dataUri(Buffer.concat([png.subarray(0, 8), Buffer.alloc(500, 7)]))), `${at} ${damaged}`],
    [picture(dataUri(claiming(png, 50_000, 50_000))), `${at} has more than 67108864 pixels`],
    [picture(dataUri(claiming(png, 2 ** 31 - 1, 2 ** 31 - 1))), `${at} ${damaged}`],
    [picture(dataUri(claiming(png, 8000, 8000))), `${at} ${damaged}`],
    [picture(dataUri(claiming(png, 0, 48))), `${at} ${damaged}`],
    [
      { ...picture(uri), background: 'transparent', output_format: 'jpeg' },
      'background transparent needs output_format png or webp',
    ],
    [
      { ...picture(uri), n: 5, size: '2048x2048' },
      'n images of size 2048x2048 must have at most 16777216 pixels together, not 20971520',
    ],
    [{ ...picture(uri), resolution: '512' }, 'resolution must be one of "1K", "1.5K", "2K"'],
  ];
  for (const [body, message] of bodies) {
    const said = await post('/images/edits', body);
    t.same([said.status, JSON.parse(said.text)], [400, refused(message)], message);
  }

  const good = { prompt: 'x', model: edit };
  const forms: readonly [body: Parameters<typeof formOf>[0], message: string][] = [
    [{ ...good }, 'image is required'],
    [{ ...good, mask: png }, 'mask needs at least one image'],
    [{ ...good, image: 'https://pictures.example/a.png' }, 'image must be a file'],
    [{ ...good, 'image[]': uri }, 'image[] must be a file'],
    [{ ...good, image: png, mask: 'none' }, 'mask must be a file'],
    [{ ...good, image: png, picture: png }, 'picture must not be a file'],
    [{ ...good, image: png, prompt: png }, 'prompt must not be a file'],
    [{ ...good, image: Buffer.alloc(0) }, 'image is empty'],
    [{ ...good, image: gif }, `image ${types}, not image/gif`],
    [{ ...good, 'image[]': [png, gif] }, `image[1] ${types}, not image/gif`],
    [{ ...good, image: png, mask: jpeg }, 'mask must be image/png, not image/jpeg'],
    [{ ...good, image: large.subarray(0, 2000) }, `image ${damaged}`],
    [
      { ...good, 'image[]': Array<Buffer>(11).fill(png) },
      `image must have at most 10 images for model ${edit}`,
    ],
    [{ ...good, image: png, provider: '{' }, 'provider must be JSON'],
    [{ ...good, image: png, input_references: 'x' }, 'input_references must be JSON'],
    [{ ...good, image: png, seed: '1.0' }, 'seed must be an integer'],
    [{ ...good, image: png, seed: '9223372036854775808' }, seeds],
    [{ ...good, image: png, n: '' }, 'n must be an integer'],
    [
      { prompt: 'x', image: png },
      'image is not supported by model sluice/image: it takes no reference images',
    ],
    [{ prompt: 'x', mask: png }, 'mask is not supported by model sluice/image: it takes no reference images'],
    [{ prompt: 'x' }, 'image is not supported by model sluice/image: it takes no reference images'],
    [{ image: png, model: edit }, 'prompt is required'],
  ];
  for (const [fields, message] of forms) {
    const said = await post('/images/edits', formOf(fields));
    t.same([said.status, JSON.parse(said.text)], [400, refused(message)], `form: ${message}`);
  }
});

t.test('private addresses in every notation', async (t) => {
  const hosts = [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1'],
    ...['localhost', 'LOCALHOST', 'a.localhost', 'localhost.', '127.0.0.1.', '0.0.0.0', '0', '10.1.2.3'],
    ...['172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '198.18.0.1', '224.0.0.1'],
    ...['255.255.255.255', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
    ...['[::127.0.0.1]', '[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
    ...['１２７.０.０.１', '127。0。0。1', '127.0.0.1%2f', 'user:secret@127.0.0.1'],
  ];
  const urls = [
    ...hosts.map((host) => `https://${host}/a.png`),
    ...['http://93.184.216.34/a.png', 'ftp://a.example/a.png', 'file:///etc/passwd', '//127.0.0.1/a.png'],
    ...['/etc/passwd', 'not an address', 'https://', 'gopher://127.0.0.1:70/_'],
  ];
  for (const url of urls) {
    const said = await post('/images', {
      prompt: 'x',
      model: edit,
      input_references: [{ type: 'image_url', image_url: { url } }],
    });
    t.equal(said.status, 400, url);
    t.match(JSON.parse(said.text).error.message, /^input_references\[0\]\.image_url\.url must /, url);
  }
});

t.test('too large: one', async (t) => {
  const limit = 20 * 1024 * 1024;
  const heavy = Buffer.concat([png, Buffer.alloc(limit + 1 - png.length)]);
  const alone = (field: string) => tooLarge(`${field} is larger than the limit of ${limit} bytes`);
  const form = await post('/images/edits', formOf({ prompt: 'x', model: edit, image: heavy }));
  t.same([form.status, JSON.parse(form.text)], [413, alone('image')]);
  const json = await post('/images/edits', picture(dataUri(heavy)));
  t.same([json.status, JSON.parse(json.text)], [413, alone('images[0].image_url')]);
});

t.test('too large: all together', { skip: onlyLong }, async (t) => {
  const seventeen = await noise(2440);
  const four = [seventeen, seventeen, seventeen, seventeen];
  const together = tooLarge('The images are larger than the limit of 67108864 bytes together');
  const files = await post('/images/edits', formOf({ prompt: 'x', model: edit, 'image[]': four }));
  t.same([files.status, JSON.parse(files.text)], [413, together]);
  const uris = await post('/images', {
    prompt: 'x',
    model: edit,
    images: four.map((bytes) => ({ image_url: dataUri(bytes) })),
  });
  t.same([uris.status, JSON.parse(uris.text)], [413, together]);
});

t.test('models and content types', async (t) => {
  const missing = await post('/images', { prompt: 'x', model: 'acme/none' });
  t.same(
    [missing.status, JSON.parse(missing.text)],
    [404, envelope(404, 'No model named "acme/none"', 'not_found_error', 'not_found')],
  );
  const chat = await post('/images/generations', formOf({ prompt: 'x', model: 'sluice/chat' }));
  t.equal(chat.status, 404);
  t.match(JSON.parse(chat.text).error.message, /"sluice\/chat" is of kind chat/);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const response = await fetch(`${gateway.url}/images`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': type },
      body: 'prompt=x',
    });
    t.equal(response.status, 400, type);
    t.match(await response.json(), { error: { message: /^content-type must be application\/json/ } });
  }
  const anonymous = await fetch(`${gateway.url}/images`, { method: 'POST', body: '{' });
  t.equal(anonymous.status, 401);
  const method = await fetch(`${gateway.url}/images`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  t.same([method.status, method.headers.get('allow')], [405, 'POST, OPTIONS']);
});

t.test('no refused request reached an engine or a bill', async (t) => {
  t.same([calls.length, events.length], [0, 0]);
});
