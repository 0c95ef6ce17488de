/** Reads image requests, as JSON or a form. */
import type { IncomingMessage } from 'node:http';
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import { dataUriHeader } from '../../media/data-uri.ts';
import type { ImageBackground, ImageFormat } from '../../ports/engines/image.ts';
import type { SketchCall } from '../images/drawing.ts';
import { optionalArray } from './fields.ts';
import { readBytes, readForm, readJson } from './read-body.ts';

interface ImagesRequest {
  readonly model: string;
  readonly call: SketchCall;
  readonly links: boolean;
  /** As it was sent, for `onRequest`. */
  readonly fields: Readonly<Record<string, string>>;
}

interface Sent {
  /** All of them as texts, as forms have them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly images: readonly Buffer[];
  readonly mask: Buffer | undefined;
}

const formats: readonly string[] = ['png', 'jpeg', 'webp'] satisfies ImageFormat[];
const backgrounds: readonly string[] = ['auto', 'opaque', 'transparent'] satisfies ImageBackground[];
const mostPixels = 4096 * 4096;

export async function readImagesRequest(request: IncomingMessage): Promise<ImagesRequest> {
  const type = request.headers['content-type'] ?? '';
  const body = await readBytes(request);
  const sent = type.startsWith('multipart/') ? await sentForm(body, type) : sentJson(body);
  const { fields } = sent;
  if (fields.prompt === undefined) throw fail('invalid_request', 'prompt is missing');
  return {
    model: fields.model ?? 'simulator',
    call: { ...settingsOf(fields), ...sizeOf(fields.size ?? '1024x1024'), ...picturesOf(sent) },
    links: fields.response_format === 'url',
    fields,
  };
}

const settingsOf = (fields: Sent['fields']) => ({
  prompt: fields.prompt ?? '',
  n: numberOf(fields, 'n', 1, 10) ?? 1,
  seed: seedOf(fields.seed),
  steps: numberOf(fields, 'num_inference_steps', 1, 1000) ?? numberOf(fields, 'steps', 1, 1000),
  guidanceScale: numberOf(fields, 'guidance_scale', 0, 100),
  negativePrompt: fields.negative_prompt,
  outputFormat: oneOf(fields, 'output_format', formats, 'png') as ImageFormat,
  outputCompression: numberOf(fields, 'output_compression', 0, 100),
  background: oneOf(fields, 'background', backgrounds, 'auto') as ImageBackground,
});

const picturesOf = ({ images, mask }: Sent): Pick<SketchCall, 'references' | 'mask'> => ({
  references: images.map((bytes) => ({ bytes })),
  mask: mask && { bytes: mask },
});

const sentForm = async (body: Buffer, type: string): Promise<Sent> => {
  const { fields, files } = await readForm(body, type);
  return {
    fields,
    images: files.filter(({ field }) => /^image(\[\d*\])?$/.test(field)).map(({ bytes }) => bytes),
    mask: files.find(({ field }) => field === 'mask')?.bytes,
  };
};

const sentJson = (body: Buffer): Sent => {
  const value = readJson(body);
  if (!isObject(value)) throw fail('invalid_request', 'The body must be an object');
  const fields = Object.entries(value).flatMap(([name, field]) =>
    typeof field === 'string' || typeof field === 'number' ? [[name, String(field)]] : [],
  );
  // A number has lost the last digits of a large seed by now.
  const seed = /(?<!\\)"seed"\s*:\s*(-?\d{1,20})(?=\s*[,}])/.exec(body.toString('utf8'))?.[1];
  return {
    fields: { ...Object.fromEntries(fields), ...(seed === undefined ? {} : { seed }) },
    images: (optionalArray(value.images, 'images') ?? []).map(pictureOf),
    mask: isObject(value.mask) ? pictureOf(value.mask) : undefined,
  };
};

const pictureOf = (item: unknown): Buffer => {
  const url = isObject(item) && typeof item.image_url === 'string' ? item.image_url : '';
  const header = dataUriHeader(url);
  if (header === undefined) throw fail('invalid_request', 'image_url must be a base64 data URI');
  return Buffer.from(url.slice(header.length), 'base64');
};

const sizeOf = (text: string): { width: number; height: number } => {
  const [, width = '0', height = '0'] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(text) ?? [];
  const pixels = Number(width) * Number(height);
  if (pixels === 0 || pixels > mostPixels)
    throw fail('invalid_request', 'size must be a size such as 1024x1024');
  return { width: Number(width), height: Number(height) };
};

const seedOf = (text: string | undefined): bigint | undefined => {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,20}$/.test(text)) throw fail('invalid_request', 'seed must be a whole number');
  return BigInt(text);
};

const numberOf = (fields: Sent['fields'], name: string, low: number, high: number): number | undefined => {
  const text = fields[name];
  if (text === undefined) return undefined;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!(value >= low && value <= high))
    throw fail('invalid_request', `${name} must be from ${low} to ${high}`);
  return value;
};

const oneOf = (fields: Sent['fields'], name: string, values: readonly string[], usual: string): string => {
  const value = fields[name] ?? usual;
  if (!values.includes(value)) throw fail('invalid_request', `${name} must be one of ${values.join(', ')}`);
  return value;
};
