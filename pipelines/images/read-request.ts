/** Checks an image request against its model's spec: 400 names the field, 503 without a spec. */
import type { Model } from '../../schemas/catalog.ts';
import { ImageFields } from '../../schemas/image.ts';
import type { ImageCapabilities, ImageParameters } from '../../schemas/image-capabilities.ts';
import { fail } from '../../src/errors.ts';
import { chooseSize } from '../../src/images/choose-size.ts';
import { imageSpecOf, namesOf, settings } from '../../src/images/spec.ts';
import type { ImageBackground, ImageCall, ImageFormat } from '../../src/ports/engines/image.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { checkEnum, checkRange, checkText, invalid } from '../core/checks.ts';
import type { JsonObject } from '../core/parse-json.ts';
import type { ResolvedRequest } from '../core/resolve-model.ts';
import type { Step } from '../core/stage.ts';
import { validate } from '../core/validate.ts';
import { type ImageBody, readImageForm } from './read-body.ts';
import { readImageSettings } from './read-settings.ts';
import { type ImageSource, readImageSources } from './read-sources.ts';

export type ImageResponseFormat = 'url' | 'b64_json';

/** What differs between the routes. */
export interface ImageRoute {
  readonly path: string;
  readonly responseFormat: ImageResponseFormat;
  /** Edits take at least one picture. */
  readonly edits?: boolean;
}

export interface ImagePlan {
  readonly model: Model;
  readonly spec: ImageCapabilities;
  readonly responseFormat: ImageResponseFormat;
  readonly stream: boolean;
  readonly call: Omit<ImageCall, 'references' | 'mask'>;
  readonly references: readonly ImageSource[];
  readonly mask: ImageSource | undefined;
}

const imageFields = validate(ImageFields);

export const readImageRequest =
  (
    { allowPrivateUrls }: Pick<Ports, 'allowPrivateUrls'>,
    route: ImageRoute,
  ): Step<ResolvedRequest<ImageBody>, ImagePlan, unknown> =>
  ({ body, model }) => {
    const spec = imageSpecOf(model);
    if (spec === undefined)
      throw fail('unavailable', `The model ${model.id} is not served: it has no valid capability spec`);
    const { parameters } = spec;
    const raw = body.isForm ? readImageForm(body.fields, parameters) : body.fields;
    checkSupported(raw, body, model, parameters);
    const fields = imageFields(raw);
    const n =
      parameters.n === undefined ? 1 : checkRange(fields.n ?? parameters.n.default ?? 1, 'n', parameters.n);
    const stream = fields.stream ?? false;
    if (stream && !spec.streaming) throw invalid(`stream is not supported by model ${model.id}`);
    if (stream && n > 1) throw invalid('stream cannot be used with n above 1');
    return {
      model,
      spec,
      responseFormat: fields.response_format ?? route.responseFormat,
      stream,
      call: {
        prompt: checkText(fields.prompt, 'prompt', spec.max_prompt_length),
        n,
        ...readSize(fields, n, parameters),
        seed: fields.seed === undefined ? undefined : checkSeed(fields.seed),
        ...readImageSettings(raw, parameters),
        ...readOutput(fields, parameters, model),
      },
      ...readImageSources(fields, body, { route, model, spec, allowPrivateUrls }),
    };
  };

/** Refused whatever their value, unless it is null. */
const checkSupported = (
  fields: JsonObject,
  { isForm }: ImageBody,
  { id }: Model,
  parameters: ImageParameters,
): void => {
  const isSent = (name: string): boolean => fields[name] !== undefined && fields[name] !== null;
  for (const name of ['moderation', 'style']) if (isSent(name)) throw invalid(`${name} is not supported`);
  if (!isForm && isSent('image')) throw invalid('image must be a file of a form; in JSON, send images');
  // Many clients send n 1 whatever the model.
  const optional = ['aspect_ratio', 'resolution', 'seed', 'output_compression', 'background'] as const;
  const declared = new Set(settings.flatMap((setting) => namesOf(setting, parameters)));
  const unsupported =
    (parameters.n === undefined && isSent('n') && fields.n !== 1 ? 'n' : undefined) ??
    optional.find((name) => isSent(name) && parameters[name] === undefined) ??
    [...settings, 'num_inference_steps'].find((name) => isSent(name) && !declared.has(name));
  if (unsupported !== undefined) throw invalid(`${unsupported} is not supported by model ${id}`);
};

const readSize = (fields: ImageFields, n: number, parameters: ImageParameters) => {
  const { aspect_ratio, resolution } = fields;
  if (aspect_ratio !== undefined)
    checkEnum(aspect_ratio, 'aspect_ratio', parameters.aspect_ratio?.values ?? []);
  if (resolution !== undefined) checkEnum(resolution, 'resolution', parameters.resolution?.values ?? []);
  const { width, height } = chooseSize(fields, parameters);
  const { max_total_area: most } = parameters.size;
  if (most !== undefined && n * width * height > most)
    throw invalid(
      `n images of size ${width}x${height} must have at most ${most} pixels together, not ${n * width * height}`,
    );
  return { width, height };
};

const readOutput = (
  fields: ImageFields,
  parameters: ImageParameters,
  { id }: Model,
): Pick<ImageCall, 'outputFormat' | 'outputCompression' | 'background'> => {
  const formats = parameters.output_format;
  const outputFormat: ImageFormat =
    fields.output_format === undefined
      ? (formats.default ?? formats.values[0] ?? 'png')
      : checkEnum(fields.output_format, 'output_format', formats.values);
  const range = parameters.output_compression;
  return {
    outputFormat,
    outputCompression:
      fields.output_compression === undefined || range === undefined
        ? range?.default
        : checkRange(fields.output_compression, 'output_compression', range),
    background: readBackground(fields.background, outputFormat, parameters, id),
  };
};

const readBackground = (
  requested: string | undefined,
  format: ImageFormat,
  { background }: ImageParameters,
  id: string,
): ImageBackground => {
  if (requested === undefined || background === undefined) return background?.default ?? 'auto';
  if (requested === 'transparent' && !background.values.includes('transparent'))
    throw invalid(`background transparent is not supported by model ${id}`);
  const chosen = checkEnum(requested, 'background', background.values);
  if (chosen === 'transparent' && format === 'jpeg')
    throw invalid('background transparent needs output_format png or webp');
  return chosen;
};

const leastSeed = -(2n ** 63n);
const mostSeed = 2n ** 63n - 1n;

const checkSeed = (value: unknown): bigint => {
  const seed = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof seed === 'bigint' && seed >= leastSeed && seed <= mostSeed) return seed;
  throw invalid(
    typeof seed === 'bigint' || Number.isInteger(seed)
      ? `seed must be between ${leastSeed} and ${mostSeed}, written in digits`
      : 'seed must be an integer',
  );
};
