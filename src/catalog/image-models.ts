/** The image models of the default catalog: what the contract's two take, in its own numbers. */
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';

/** Every size stands in exactly its ratio, as near to the label's own square as multiples of 16 allow. */
const rows = {
  '1:1': ['512x512', '768x768', '1024x1024', '1536x1536', '2048x2048'],
  '3:2': ['624x416', '960x640', '1248x832', '1872x1248', '2496x1664'],
  '2:3': ['416x624', '640x960', '832x1248', '1248x1872', '1664x2496'],
  '4:3': ['576x432', '896x672', '1152x864', '1792x1344', '2304x1728'],
  '3:4': ['432x576', '672x896', '864x1152', '1344x1792', '1728x2304'],
  '5:4': ['560x448', '880x704', '1120x896', '1680x1344', '2240x1792'],
  '4:5': ['448x560', '704x880', '896x1120', '1344x1680', '1792x2240'],
  '16:9': ['768x432', '1024x576', '1280x720', '2048x1152', '2560x1440'],
  '9:16': ['432x768', '576x1024', '720x1280', '1152x2048', '1440x2560'],
  '21:9': ['784x336', '1120x480', '1568x672', '2352x1008', '3024x1296'],
  '9:21': ['336x784', '480x1120', '672x1568', '1008x2352', '1296x3024'],
} as const;
const columns = ['512', '768', '1K', '1.5K', '2K'] as const;

const sizesAt = (label: (typeof columns)[number]): Record<string, string> =>
  Object.fromEntries(Object.entries(rows).map(([ratio, row]) => [ratio, row[columns.indexOf(label)] ?? '']));

const aspectRatio = { type: 'enum' as const, values: Object.keys(rows), default: '1:1' };

const resolution = (labels: readonly (typeof columns)[number][]) => ({
  type: 'enum' as const,
  values: [...labels],
  default: '1K',
  sizes: Object.fromEntries(labels.map((label) => [label, sizesAt(label)])),
});

const size = {
  type: 'constraint' as const,
  multiple_of: 16,
  min_area: 65_536,
  max_area: 4_194_304,
  max_ratio: 4,
  default: '1024x1024',
};

const common = {
  n: { type: 'range' as const, min: 1, max: 10, default: 1 },
  aspect_ratio: aspectRatio,
  seed: { type: 'boolean' as const },
  output_format: {
    type: 'enum' as const,
    values: ['png' as const, 'jpeg' as const, 'webp' as const],
    default: 'png' as const,
  },
  output_compression: { type: 'range' as const, min: 0, max: 100 },
  negative_prompt: { type: 'string' as const, max_length: 4000 },
};

/** Guidance is off unless asked for. */
export const defaultImage: ImageCapabilities = {
  max_prompt_length: 4000,
  streaming: true,
  parameters: {
    ...common,
    size,
    resolution: resolution(columns),
    background: { type: 'enum', values: ['auto', 'opaque'], default: 'auto' },
    steps: { type: 'range', min: 1, max: 50, default: 8, aliases: ['num_inference_steps'] },
    guidance_scale: { type: 'range', min: 0, max: 20, default: 0 },
  },
};

/** Twenty steps cost what the pixels cost; more or fewer, in proportion. */
export const editImage: ImageCapabilities = {
  max_prompt_length: 8000,
  streaming: true,
  parameters: {
    ...common,
    size: { ...size, max_total_area: 16_777_216 },
    resolution: resolution(['1K', '1.5K', '2K']),
    background: { type: 'enum', values: ['auto', 'opaque', 'transparent'], default: 'auto' },
    input_references: {
      type: 'range',
      min: 0,
      max: 10,
      formats: ['image/png', 'image/jpeg', 'image/webp'],
      max_pixels: 67_108_864,
    },
    mask: { type: 'boolean' },
    steps: { type: 'range', min: 1, max: 50, default: 20, aliases: ['num_inference_steps'] },
    guidance_scale: { type: 'range', min: 0, max: 20, default: 4 },
  },
  step_scaling: { per_step: '0.05' },
};
