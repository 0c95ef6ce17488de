/** Tests that chained gateways give the same images as one, byte for byte. */
import t from 'tap';
import { defaultImage, editImage } from '../../src/catalog/image-models.ts';
import { dataUri, formOf, plain, startImages } from './drawing.ts';

t.test('through two gateways', async (t) => {
  const far = await startImages();
  t.teardown(() => far.gateway.stop());
  const near = await startImages({
    env: { FAR_IMAGES_KEY: far.gateway.key },
    catalog: `
engines:
  far: { wire: openai, replicas: ['${far.gateway.url}'], key_env: FAR_IMAGES_KEY }
models:
  sluice/image: { kind: image, engine: far, pricing: { completion: '0.005' }, capabilities: { image: ${JSON.stringify(defaultImage)} } }
  sluice/image-edit: { kind: image, engine: far, pricing: { completion: '0.02' }, capabilities: { image: ${JSON.stringify(editImage)} } }
`,
  });
  t.teardown(() => near.gateway.stop());

  const png = await plain('png');
  const jpeg = await plain('jpeg');
  const edit = { prompt: 'Make it blue', model: 'sluice/image-edit', response_format: 'b64_json' };
  const requests: readonly [path: string, body: () => unknown][] = [
    [
      '/images',
      () =>
        '{"prompt":"A red fox","seed":9223372036854775807,"size":"512x512","steps":3,"guidance_scale":1.5,"negative_prompt":"rain"}',
    ],
    [
      '/images',
      () => ({
        prompt: 'Ein roter Fuchs 🦊',
        seed: 5,
        n: 3,
        size: '512x768',
        output_format: 'webp',
        output_compression: 40,
      }),
    ],
    [
      '/images/edits',
      () =>
        formOf({
          ...edit,
          'image[]': [png, jpeg],
          mask: png,
          seed: '-9223372036854775808',
          background: 'transparent',
          steps: '30',
        }),
    ],
    ['/images/edits', () => ({ ...edit, seed: 1, images: [{ image_url: dataUri(jpeg) }] })],
  ];
  const timeless = (text: string) => text.replace(/"created":\d+,/, '');
  for (const [path, body] of requests) {
    const direct = await far.post(path, body());
    const through = await near.post(path, body());
    t.same([direct.status, through.status], [200, 200], path);
    t.ok(timeless(direct.text) === timeless(through.text), `${path}: the same answer`);
    const [one, other] = far.calls.slice(-2);
    t.same(
      [one?.seed, one?.steps, one?.references.length],
      [other?.seed, other?.steps, other?.references.length],
    );
    t.same(near.events.at(-1)?.quantities, far.events.at(-1)?.quantities);
    t.equal(near.events.at(-1)?.cost, far.events.at(-1)?.cost);
  }
});
