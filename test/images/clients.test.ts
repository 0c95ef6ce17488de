/** Tests the image routes through client SDKs; every image is decoded and measured. */
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenRouter } from '@openrouter/sdk';
import { generateImage } from 'ai';
import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import t from 'tap';
import { dataUri, plain, startImages } from './drawing.ts';

const { gateway, events, calls } = await startImages();
t.teardown(() => gateway.stop());

const openai = new OpenAI({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0 });
const router = new OpenRouter({
  serverURL: gateway.url,
  apiKey: gateway.key,
  retryConfig: { strategy: 'none' },
});
const edit = 'sluice/image-edit';
const small = await plain('png');
const jpeg = await plain('jpeg', { width: 80 });

const measured = async (bytes: Uint8Array | ArrayBuffer | string) => {
  const { format, width, height } = await sharp(
    typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : new Uint8Array(bytes),
  ).metadata();
  return `${format} ${width}x${height}`;
};
const fetched = async (url: string | undefined) => measured(await (await fetch(url ?? '')).arrayBuffer());

t.test('openai: generate', async (t) => {
  const links = await openai.images.generate({
    prompt: 'A red fox',
    model: 'sluice/image',
    n: 2,
    size: '1024x1024',
    quality: 'high',
    user: 'u',
  });
  t.equal(links.data?.length, 2);
  for (const { url } of links.data ?? []) t.equal(await fetched(url), 'png 1024x1024');
  t.match(links, {
    size: '1024x1024',
    output_format: 'png',
    background: 'opaque',
    usage: { total_tokens: 0 },
  });

  const whole = await openai.images.generate({
    prompt: 'A red fox',
    response_format: 'b64_json',
    output_format: 'webp',
    output_compression: 60,
    size: '1536x1024',
  });
  t.equal(await measured(whole.data?.[0]?.b64_json ?? ''), 'webp 1536x1024');

  const stream = await openai.images.generate({
    prompt: 'A red fox',
    stream: true,
    size: '1024x1024',
    output_format: 'jpeg',
  });
  const received = [];
  for await (const event of stream) received.push(event);
  t.equal(received.length, 1);
  const [event] = received;
  if (event?.type !== 'image_generation.completed') throw new Error('another event');
  t.equal(await measured(event.b64_json), 'jpeg 1024x1024');
  t.match(event, {
    created_at: Number,
    size: '1024x1024',
    output_format: 'jpeg',
    background: 'opaque',
    quality: 'auto',
  });
});

t.test('openai: edit, with one file, several, a mask, and as a stream', async (t) => {
  const one = await openai.images.edit({
    model: edit,
    prompt: 'Make it blue',
    image: await toFile(small, 'a.png', { type: 'image/png' }),
    mask: await toFile(small, 'mask.png', { type: 'image/png' }),
    size: '1024x1024',
  });
  t.equal(await fetched(one.data?.[0]?.url), 'png 1024x1024');
  t.same([calls.at(-1)?.references.length, calls.at(-1)?.mask?.width], [1, 64]);

  const several = await openai.images.edit({
    model: edit,
    prompt: 'Put them together',
    image: [await toFile(small, 'a.png'), await toFile(jpeg, 'b.jpg'), await toFile(small, 'c.png')],
    n: 2,
    response_format: 'b64_json',
    background: 'transparent',
    output_format: 'webp',
  });
  t.same(
    calls.at(-1)?.references.map(({ mediaType, width }) => `${mediaType} ${width}`),
    ['image/png 64', 'image/jpeg 80', 'image/png 64'],
  );
  t.equal(several.data?.length, 2);
  t.equal(several.background, 'transparent');
  for (const { b64_json } of several.data ?? []) t.equal(await measured(b64_json ?? ''), 'webp 1024x1024');

  const stream = await openai.images.edit({
    model: edit,
    prompt: 'Make it blue',
    image: await toFile(jpeg, 'a.jpg'),
    stream: true,
  });
  const received = [];
  for await (const event of stream) received.push(event);
  t.match(received, [{ type: 'image_generation.completed', size: '1024x1024', usage: { input_tokens: 0 } }]);
  t.equal(received.length, 1);
});

t.test('openai: errors have its classes', async (t) => {
  await t.rejects(openai.images.generate({ prompt: 'x', n: 11 }), {
    status: 400,
    message: /n must be between 1 and 10/,
  });
  await t.rejects(openai.images.generate({ prompt: 'x', model: 'none' }), {
    status: 404,
    message: /No model named/,
  });
  await t.rejects(openai.images.edit({ prompt: 'x', image: await toFile(small, 'a.png') }), {
    status: 400,
    message: /image is not supported by model sluice\/image/,
  });
  await t.rejects(openai.images.generate({ prompt: '/sim fail=503@0\nx', stream: true }), {
    status: 503,
    message: /503/,
  });
});

t.test('OpenRouter: generate, whole and as a stream', async (t) => {
  const whole = await router.images.generate({
    imageGenerationRequest: {
      model: edit,
      prompt: 'A red fox',
      aspectRatio: '16:9',
      resolution: '1K',
      n: 2,
      seed: 7,
      background: 'opaque',
      outputFormat: 'jpeg',
      quality: 'high',
      sessionId: 's',
      inputReferences: [{ type: 'image_url', imageUrl: { url: dataUri(small) } }],
      provider: { order: ['sluice'], options: { openai: { steps: 10 } } },
    },
  });
  if (!('data' in whole)) throw new Error('a stream');
  t.equal(whole.data.length, 2);
  for (const { b64Json } of whole.data) t.equal(await measured(b64Json ?? ''), 'jpeg 1280x720');
  t.match(whole.usage, { totalTokens: 0, cost: 0.018432 });
  t.equal(calls.at(-1)?.steps, 10);

  const stream = await router.images.generate({
    imageGenerationRequest: { model: 'sluice/image', prompt: 'A red fox', size: '768x512', stream: true },
  });
  if ('data' in stream) throw new Error('no stream');
  const received = [];
  for await (const event of stream) received.push(event);
  const [event] = received;
  t.equal(received.length, 1);
  if (event?.type !== 'image_generation.completed' || !('b64Json' in event)) throw new Error('another event');
  t.equal(await measured(event.b64Json), 'png 768x512');
  t.match(event, { created: Number, mediaType: 'image/png', usage: { totalTokens: 0 } });
});

t.test('OpenRouter: image models and their endpoints', async (t) => {
  const { data } = await router.images.listModels();
  t.same(
    data.map(({ id }) => id),
    ['sluice/image', edit],
  );
  t.match(data[1], {
    architecture: { inputModalities: ['text', 'image'], outputModalities: ['image'] },
    supportsStreaming: true,
    supportedParameters: {
      n: { type: 'range', min: 1, max: 10 },
      resolution: { type: 'enum', values: ['1K', '1.5K', '2K'] },
      seed: { type: 'boolean' },
      input_references: { type: 'range', min: 0, max: 10 },
    },
  });
  const record = await router.images.listModelEndpoints({ author: 'sluice', slug: 'image' });
  t.match(record, {
    id: 'sluice/image',
    endpoints: [
      {
        providerName: 'Sluice',
        providerSlug: 'sluice',
        providerTag: null,
        supportsStreaming: true,
        allowedPassthroughParameters: ['steps', 'num_inference_steps', 'guidance_scale', 'negative_prompt'],
        pricing: [{ billable: 'output_image', unit: 'megapixel', costUsd: 0.005 }],
      },
    ],
  });
  await t.rejects(router.images.listModelEndpoints({ author: 'sluice', slug: 'none' }), {
    statusCode: 404,
    message: /No image model named/,
  });
});

t.test('AI SDK', async (t) => {
  const compatible = createOpenAICompatible({ name: 'sluice', baseURL: gateway.url, apiKey: gateway.key });
  const own = createOpenAI({ baseURL: gateway.url, apiKey: gateway.key });
  for (const [name, model] of [
    ['openai-compatible', compatible.imageModel('sluice/image')],
    ['openai', own.imageModel('sluice/image')],
  ] as const) {
    const { images } = await generateImage({
      model,
      prompt: 'A red fox',
      n: 2,
      size: '1024x1024',
      maxRetries: 0,
    });
    t.equal(images.length, 2, name);
    for (const { uint8Array } of images) t.equal(await measured(uint8Array), 'png 1024x1024', name);
  }
  const { image } = await generateImage({
    model: compatible.imageModel(edit),
    prompt: { text: 'Make it blue', images: [small, jpeg], mask: small },
    maxRetries: 0,
  });
  t.equal(await measured(image.uint8Array), 'png 1024x1024');
  t.same([calls.at(-1)?.references.length, calls.at(-1)?.mask?.width], [2, 64]);
});

t.test('each request made one usage event', async (t) => {
  t.equal(events.length, calls.length);
  t.equal(new Set(events.map(({ id }) => id)).size, events.length);
});
