/** Images of the OpenAI API: JSON or forms out, base64 or links back. */
import { fail } from '../../../errors.ts';
import { dataUriHeader, isDataUri } from '../../../media/data-uri.ts';
import { encodedMedia } from '../../../media/media-data.ts';
import type { ImageCall, InputImage } from '../../../ports/engines/image.ts';
import type { Base64, MediaData } from '../../../ports/media.ts';
import { type ImageWire, type MadeImage, mostImageBytes } from '../../wire.ts';
import { type Pick, unreadable } from '../shared/json-picker.ts';
import { LongText } from '../shared/long-text.ts';
import { type FormFile, formBody } from '../shared/multipart.ts';
import { type Fields, failureFields, parsedField, pickingDecoder } from './fields.ts';

export const imageWire: ImageWire = {
  encode: ({ served_as }, call) => {
    const fields = fieldsOf(served_as, call);
    if (call.references.length > 0)
      return { path: '/images/edits', ...formBody(fields.texts, filesOf(call)) };
    return { path: '/images/generations', body: fields.json };
  },
  decode: (call) => {
    const item = { text: new LongText(), image: undefined, revisedPrompt: undefined };
    const reading: Reading = { fields: {}, made: [], ...item };
    return pickingDecoder(answer, reading, ({ made }) => imagesOf(call, made));
  },
};

/** Defaults are omitted: some servers reject unknown fields. */
const fieldsOf = (model: string, call: ImageCall) => {
  const values: Record<string, string | number> = {
    model,
    prompt: call.prompt,
    n: call.n,
    size: `${call.width}x${call.height}`,
    response_format: 'b64_json',
  };
  if (call.steps !== undefined) values.num_inference_steps = call.steps;
  if (call.guidanceScale !== undefined) values.guidance_scale = call.guidanceScale;
  if (call.negativePrompt !== undefined) values.negative_prompt = call.negativePrompt;
  if (call.outputFormat !== 'png') values.output_format = call.outputFormat;
  if (call.outputCompression !== undefined) values.output_compression = call.outputCompression;
  if (call.background !== 'auto') values.background = call.background;
  const seed = call.seed?.toString();
  const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  return {
    texts: seed === undefined ? texts : { ...texts, seed },
    // As text: a JavaScript number would lose digits.
    json: `${JSON.stringify(values).slice(0, -1)}${seed === undefined ? '' : `,"seed":${seed}`}}`,
  };
};

const filesOf = ({ references, mask }: ImageCall): FormFile[] => {
  const field = references.length > 1 ? 'image[]' : 'image';
  const files = references.map((image, index) => fileOf(image, field, `image-${index + 1}`));
  return mask === undefined ? files : [...files, fileOf(mask, 'mask', 'mask')];
};

const fileOf = ({ bytes, mediaType }: InputImage, field: string, name: string): FormFile => ({
  field,
  fileName: `${name}.${mediaType.split('/')[1] ?? 'bin'}`,
  mediaType,
  bytes,
});

/** A response as far as it has been read. */
interface Reading extends Fields {
  readonly made: MadeImage[];
  /** The text that is being read. */
  readonly text: LongText;
  /** Of the current item. */
  image: MediaData | string | undefined;
  revisedPrompt: string | undefined;
}

/** Null, numbers and nothing are passed over. */
const longText = (take: (text: Base64, reading: Reading) => void): Pick<Reading> => ({
  piece: (bytes, last, reading) => {
    reading.text.add(bytes);
    const text = last ? reading.text.end() : undefined;
    if (text !== undefined) take(text, reading);
  },
});

const item: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([
    [
      'b64_json',
      longText((text, reading) => {
        reading.image = imageOf(text, undefined);
      }),
    ],
    [
      'url',
      longText((text, reading) => {
        reading.image ??= linked(text);
      }),
    ],
    [
      'revised_prompt',
      parsedField((value, reading) => {
        if (typeof value === 'string' && value !== '') reading.revisedPrompt = value;
      }),
    ],
  ]),
  end: (reading) => {
    const { image, revisedPrompt } = reading;
    if (image !== undefined) reading.made.push({ image, revisedPrompt });
    reading.image = undefined;
    reading.revisedPrompt = undefined;
  },
};

const answer: Pick<Reading> = {
  keys: new Map<string, Pick<Reading>>([['data', { items: item }], ...failureFields]),
};

const linked = (url: Base64): MediaData | string | undefined => {
  if (!isDataUri(url)) return typeof url === 'string' ? url : undefined;
  const header = dataUriHeader(url);
  if (header === undefined) throw unreadable();
  const base64 = typeof url === 'string' ? url.slice(header.length) : url.subarray(header.length);
  return imageOf(base64, header.mediaType);
};

const imageOf = (base64: Base64, declared: string | undefined): MediaData => {
  try {
    return encodedMedia(padded(base64), declared, { field: 'The image', maxBytes: mostImageBytes });
  } catch (cause) {
    throw fail('engine_unreachable', 'The engine sent an image that cannot be read', { cause });
  }
};

const padded = (base64: Base64): Base64 => {
  if (base64.length % 4 === 0) return base64;
  const padding = '='.repeat(4 - (base64.length % 4));
  return typeof base64 === 'string' ? base64 + padding : Buffer.concat([base64, Buffer.from(padding)]);
};

const imagesOf = ({ n, prompt }: ImageCall, made: readonly MadeImage[]): readonly MadeImage[] => {
  if (made.length === 0) throw fail('engine_unreachable', 'The model answered without an image');
  if (made.length < n) throw fail('engine_unreachable', `The model made ${made.length} of ${n} images`);
  return made.slice(0, n).map(({ image, revisedPrompt }) => ({
    image,
    revisedPrompt: revisedPrompt === prompt ? undefined : revisedPrompt,
  }));
};
