/** Tests that only images which can be decoded to their last pixel are returned and billed. */
import sharp from 'sharp';
import t from 'tap';
import { envelope } from '../envelope.ts';
import { noise, startImages } from '../images/drawing.ts';
import { codec, cut, html, MediaEngine } from './media-stand-in.ts';

const engine = await new MediaEngine().start(t);
const { gateway, events, post } = await startImages({
  catalog: `
engines:
  stand-in: { wire: openai, replicas: ['${engine.url}'] }
models:
  far/draw: { kind: image, engine: stand-in, pricing: { completion: '0.01' }, capabilities: { image: { max_prompt_length: 100, streaming: true, parameters: { n: { type: range, min: 1, max: 4, default: 1 }, size: { type: constraint, multiple_of: 16, min_area: 256, max_area: 4194304, max_ratio: 3, default: 256x256 }, output_format: { type: enum, values: [png, jpeg, webp], default: png } } } } }
`,
});
t.teardown(async () => {
  await gateway.stop();
  await codec.close();
});

const whole = await noise(256);
const as = (format: 'png' | 'jpeg' | 'webp' | 'gif') => sharp(whole).toFormat(format).toBuffer();
const withAlpha = await sharp(whole).ensureAlpha(0.5).png().toBuffer();
const bitmap = Buffer.concat([Buffer.from('BM'), Buffer.alloc(1000, 1)]);

const ask = async (bytes: Buffer, fields: object = {}) => {
  engine.file = { bytes };
  const before = events.length;
  const { status, text } = await post('/images', { model: 'far/draw', prompt: 'A kite', ...fields });
  return { status, text, events: events.slice(before) };
};

const missing = 'The model answered without an image';
const damaged = 'The model answered with an image that cannot be decoded';

t.test('images that nobody could look at', async (t) => {
  const rows: [string, Buffer, string][] = [
    ['an HTML page', html, missing],
    ['a GIF', await as('gif'), missing],
    ['a bitmap', bitmap, missing],
    ['the first bytes of a PNG', whole.subarray(0, 100), damaged],
  ];
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const bytes = await as(format);
    rows.push(
      [`half a ${format}`, cut(bytes, 50), damaged],
      [`99 % of a ${format}`, cut(bytes, 99), damaged],
    );
  }
  rows.push(['half a PNG with an alpha channel', cut(withAlpha, 50), damaged]);
  for (const [what, bytes, message] of rows)
    for (const fields of [{}, { response_format: 'url' }, { stream: true }]) {
      const said = await ask(bytes, fields);
      const how = `${what} ${JSON.stringify(fields)}`;
      t.equal(said.status, 502, how);
      t.same(JSON.parse(said.text), envelope(502, message, 'server_error', 'provider_unavailable'), how);
      t.match(said.events, [{ outcome: 'failed', status: 502, cost: '0' }], `${how} costs nothing`);
    }
});

t.test('one damaged image of two spoils both', async (t) => {
  const { status, events: recorded } = await ask(cut(whole, 50), { n: 2 });
  t.equal(status, 502);
  t.match(recorded, [{ outcome: 'failed', cost: '0' }]);
});

t.test('whole images of every format', async (t) => {
  for (const format of ['png', 'jpeg', 'webp'] as const) {
    const bytes = await as(format);
    const { status, text, events: recorded } = await ask(bytes);
    t.equal(status, 200, text.slice(0, 300));
    t.match(JSON.parse(text), {
      data: [{ b64_json: bytes.toString('base64'), media_type: `image/${format}` }],
      size: '256x256',
      output_format: format,
      usage: { megapixels: 0.065536, cost: 0.00065536 },
    });
    t.match(recorded, [{ outcome: 'completed', cost: '0.00065536' }]);
  }
});
