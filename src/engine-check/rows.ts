/** Model rows of a check: small requests that any server of the kind should take. */
import type { TargetOptions } from './target.ts';

export const checkKinds = [
  'chat',
  'embedding',
  'rerank',
  'image',
  'video',
  'music',
  'speech',
  'transcription',
] as const;
export type CheckKind = (typeof checkKinds)[number];

type Json = Readonly<Record<string, unknown>>;

const capabilities = (size: string | undefined): Readonly<Partial<Record<CheckKind, Json>>> => ({
  embedding: { dimensions: 1024 },
  video: {
    duration: { min: 1, max: 60, default: 2 },
    resolutions: { one: { sizes: { '1:1': size ?? '832x480' } } },
    fps: 24,
    frame_step: 1,
    tiers: { turbo: { steps: 4, price: 1 } },
    steps: { min: 1, max: 100, base: 4, per_price: 4 },
    frame_images: ['first_frame'],
    render_time: { plain: 10, references: 10 },
  },
  music: {
    duration: { min: 1, max: 60, default: 10 },
    formats: ['mp3', 'wav', 'flac', 'opus'],
    max_outputs: 1,
    streaming: { progressive: true, sample_rate: 32_000, channels: 2 },
    render_time: 1,
  },
});

const more: Readonly<Partial<Record<CheckKind, Json>>> = {
  chat: { context_length: 8192 },
  embedding: { context_length: 512 },
  rerank: { context_length: 512 },
  // Nothing that plain OpenAI servers would not know.
  video: { supported_parameters: ['duration', 'size', 'frame_images'] },
};

/** As it would be written in `sluice.yaml`. */
export const checkedRow = (
  { kind, capabilities: own, voice, size }: TargetOptions,
  servedAs: string,
): Json => {
  const merged = { ...capabilities(size)[kind], ...own };
  return {
    kind,
    engine: 'checked',
    served_as: servedAs,
    ...more[kind],
    ...(kind === 'speech' ? { voices: [voice ?? 'alloy'] } : {}),
    ...(Object.keys(merged).length === 0 ? {} : { capabilities: { [kind]: merged } }),
  };
};
