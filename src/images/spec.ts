/** The capability spec of an image model; undefined where it is missing or contradictory. */
import type { Model } from '../../schemas/catalog.ts';
import type { ImageCapabilities, ImageParameters } from '../../schemas/image-capabilities.ts';
import { parseSize, sizeFault } from './pixel-size.ts';

const valid = new WeakMap<ImageCapabilities, boolean>();

export const imageSpecOf = (model: Model): ImageCapabilities | undefined => {
  const spec = model.capabilities?.image;
  if (spec === undefined) return undefined;
  let isValid = valid.get(spec);
  if (isValid === undefined) {
    isValid = specFault(spec) === undefined;
    valid.set(spec, isValid);
  }
  return isValid ? spec : undefined;
};

/** Parameters that may also stand under `provider.options`. */
export const settings = ['steps', 'guidance_scale', 'negative_prompt'] as const;
export type Setting = (typeof settings)[number];

/** The names by which a model takes a setting, its own first; none when it does not take it. */
export const namesOf = (setting: Setting, parameters: ImageParameters): readonly string[] => {
  const declared = parameters[setting];
  return declared === undefined ? [] : [setting, ...(declared.aliases ?? [])];
};

/** What a spec whose fields have the right types says against itself, in words. */
export const specFault = ({ parameters, step_scaling }: ImageCapabilities): string | undefined => {
  const { n, size, output_format, output_compression, background, mask, steps, guidance_scale } = parameters;
  const standard = parseSize(size.default);
  const fault = standard && sizeFault(standard, size);
  if (fault !== undefined) return `size.default ${fault}`;
  for (const [name, range] of Object.entries({ n, output_compression, steps, guidance_scale }))
    if (range !== undefined && !isSound(range)) return `${name} must have a range that holds its default`;
  for (const [name, { values, default: chosen }] of Object.entries({
    output_format,
    background: background ?? always,
  }))
    if (chosen !== undefined && !values.some((value) => value === chosen))
      return `${name}.default must be one of its values`;
  if (mask !== undefined && parameters.input_references === undefined) return 'mask needs input_references';
  if (step_scaling !== undefined && steps?.default === undefined)
    return 'step_scaling needs steps with a default';
  return tableFault(parameters) ?? nameFault(parameters);
};

const always = { values: [], default: undefined };

interface Range {
  readonly min: number;
  readonly max: number;
  readonly also?: readonly number[];
  readonly default?: number;
}

const isSound = ({ min, max, also, default: chosen }: Range): boolean =>
  min <= max && (chosen === undefined || (chosen >= min && chosen <= max) || also?.includes(chosen) === true);

const tableFault = ({ size, aspect_ratio: ratios, resolution }: ImageParameters): string | undefined => {
  if (resolution === undefined && ratios === undefined) return undefined;
  if (resolution === undefined || ratios === undefined) return 'aspect_ratio and resolution need each other';
  if (!resolution.values.includes(resolution.default)) return 'resolution.default must be one of its values';
  if (!ratios.values.includes(ratios.default)) return 'aspect_ratio.default must be one of its values';
  for (const label of resolution.values)
    for (const ratio of ratios.values) {
      const listed = parseSize(resolution.sizes[label]?.[ratio] ?? '');
      const fault = listed === undefined ? 'is missing' : sizeFault(listed, size);
      if (fault !== undefined) return `resolution.sizes.${label}.${ratio} ${fault}`;
    }
  return undefined;
};

/** Every name leads to one parameter. */
const nameFault = (parameters: ImageParameters): string | undefined => {
  const taken = new Set<string>(otherFields);
  for (const name of settings.flatMap((setting) => namesOf(setting, parameters))) {
    if (taken.has(name)) return `${name} is the name of two parameters`;
    taken.add(name);
  }
  return undefined;
};

/** Fields of a request that are no settings. */
const otherFields = [
  ...['prompt', 'model', 'n', 'response_format', 'size', 'width', 'height', 'aspect_ratio', 'resolution'],
  ...['seed', 'output_format', 'output_compression', 'background', 'input_references', 'image', 'images'],
  ...['mask', 'provider', 'stream', 'partial_images', 'user', 'session_id', 'trace', 'quality'],
  ...['moderation', 'style'],
];
