/** Configures two gateways: `near`, which is measured, and `far`, whose simulator is its engine. */
import type { SubjectRow } from '../subjects.ts';

const limits = { concurrency: 100_000, requests_per_minute: 100_000_000 };

const imageParameters = {
  n: { type: 'range', min: 1, max: 10, default: 1 },
  size: {
    type: 'constraint',
    multiple_of: 16,
    min_area: 4096,
    max_area: 4_194_304,
    max_ratio: 4,
    default: '64x64',
  },
  seed: { type: 'boolean' },
  output_format: { type: 'enum', values: ['png', 'jpeg', 'webp'], default: 'png' },
};
const imagesOf = (parameters: object): object => ({
  image: { max_prompt_length: 4000, streaming: true, parameters: { ...imageParameters, ...parameters } },
});

/** A model of every kind, with minimal renders: pixels and samples are not what is measured. */
const models: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  chat: {
    kind: 'chat',
    context_length: 131_072,
    pricing: { prompt: '0.0000003', completion: '0.0000012' },
  },
  embed: {
    kind: 'embedding',
    context_length: 8192,
    pricing: { prompt: '0.00000002' },
    capabilities: { embedding: { dimensions: 384, batch: 2048 } },
  },
  rerank: { kind: 'rerank', context_length: 8192, pricing: { prompt: '0.00000002' } },
  decide: { kind: 'decision', context_length: 16_384, pricing: { prompt: '0.0000001' } },
  image: { kind: 'image', pricing: { completion: '0.005' }, capabilities: imagesOf({}) },
  edit: {
    kind: 'image',
    input_modalities: ['text', 'image'],
    pricing: { completion: '0.02' },
    capabilities: imagesOf({
      input_references: { type: 'range', min: 0, max: 10, formats: ['image/png'], max_pixels: 67_108_864 },
    }),
  },
  video: {
    kind: 'video',
    pricing: { completion: '0.04' },
    supported_parameters: ['duration', 'size', 'aspect_ratio', 'resolution', 'frame_images', 'seed'],
    capabilities: {
      video: {
        duration: { min: 1, max: 15, default: 1 },
        resolutions: { '128p': { sizes: { '1:1': '128x128' } } },
        fps: 8,
        frame_step: 8,
        tiers: { turbo: { steps: 4, reference_steps: 8, price: 1 } },
        steps: { min: 4, max: 50, base: 10, per_price: 6 },
        frame_images: ['first_frame', 'last_frame'],
        render_time: { plain: 3, references: 5 },
      },
    },
    render_slots: 64,
  },
  music: {
    kind: 'music',
    pricing: { completion: '0.002' },
    capabilities: {
      music: {
        duration: { min: 1, max: 240, default: 1 },
        formats: ['mp3', 'wav'],
        max_outputs: 4,
        streaming: { progressive: true, sample_rate: 8000, channels: 1 },
        render_time: 0.5,
      },
    },
    render_slots: 64,
  },
  speech: {
    kind: 'speech',
    pricing: { completion: '0.0003' },
    voices: ['ada', 'ben'],
    per_request_limits: { max_prompt_length: 4096 },
    capabilities: { speech: { design: true, clone: true } },
  },
  transcribe: { kind: 'transcription', pricing: { prompt: '0.0001' } },
};

/** The configuration of these models behind another gateway. */
const asked: Readonly<Record<string, object>> = {
  decide: { capabilities: { decision: { asked_by: 'systemone' } } },
  speech: { capabilities: { speech: { design: true, clone: true, asked_by: 'sluice' } } },
};

const catalogOf = (author: string, change: (name: string) => object): object =>
  Object.fromEntries(
    Object.entries(models).map(([name, row]) => [`${author}/${name}`, { ...row, limits, ...change(name) }]),
  );

export const farCatalog = { models: catalogOf('far', () => ({ engine: 'simulator' })) };

/** A second, faster engine: a far gateway is too slow to warm the near one up. */
export const nearCatalog = (warmingPort: number): object => ({
  engines: {
    bench: { wire: 'openai', replicas: [`http://127.0.0.1:${warmingPort}/v1`], concurrency: 100_000 },
    far: {
      wire: 'openai',
      replicas: ['http://127.0.0.1:{engine}/v1'],
      key_env: 'BENCH_FAR_KEY',
      concurrency: 100_000,
      limit_field: 'max_completion_tokens',
      tokenizer_api: 'sluice',
      probe: { path: '/v1/models/count' },
    },
  },
  models: {
    'near/warming': { ...models.chat, engine: 'bench', limits },
    ...catalogOf('near', (name) => ({ engine: 'far', served_as: `far/${name}`, ...asked[name] })),
  },
});

const workers = { SLUICE_WORKERS: '16' };

/** Started in this order; the second has the first one's port as `{engine}`. */
export const gateways = (sluice: SubjectRow, warmingPort: number): { far: SubjectRow; near: SubjectRow } => ({
  far: {
    ...sluice,
    name: 'far',
    environment: { ...sluice.environment, ...workers },
    files: { 'sluice.yaml': farCatalog },
    model: 'far/chat',
  },
  near: {
    ...sluice,
    name: 'near',
    environment: {
      ...sluice.environment,
      ...workers,
      BENCH_FAR_KEY: sluice.environment?.SLUICE_BOOTSTRAP_KEY ?? '',
    },
    files: { 'sluice.yaml': nearCatalog(warmingPort) },
    model: 'near/warming',
  },
});
