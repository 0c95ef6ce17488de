/** Reads from a video request which media it needs, and what for: 400 names the field. */
import type { InputReference, VideoFields } from '../../schemas/videos.ts';
import { fail } from '../../src/errors.ts';
import { isObject } from '../../src/helpers/json-schema.ts';
import type { RenderInput } from '../../src/ports/engines/render.ts';
import type { Base64 } from '../../src/ports/media.ts';
import type { VideoSpec } from '../../src/video/spec.ts';
import { invalid, required } from '../core/checks.ts';
import { FormFile } from './read-video-form.ts';

export interface WantedMedia extends Pick<RenderInput, 'kind' | 'use'> {
  /** Its path in the request, named in errors. */
  readonly field: string;
  readonly source: Base64 | FormFile;
}

/** A frame image wins over references, whichever field it came in. */
export const readVideoMedia = (body: VideoFields, spec: VideoSpec): readonly WantedMedia[] => {
  const first = readFirstFrame(body.input_reference);
  const frames = readFrames(body, spec);
  if (frames.length > 0) return frames;
  return first === undefined ? readReferences(body.input_references ?? [], spec) : [first];
};

const readFrames = ({ frame_images = [] }: VideoFields, spec: VideoSpec): readonly WantedMedia[] => {
  const seen = new Set<string>();
  return frame_images.map(({ image_url, frame_type: use }, index): WantedMedia => {
    const field = `frame_images[${index}]`;
    if (!spec.frame_images.includes(use))
      throw fail('unsupported_parameter', `${field}.frame_type ${use} is not taken by this model`);
    if (seen.has(use)) throw invalid(`${field}.frame_type ${use} is given more than once`);
    seen.add(use);
    return { kind: 'image', use, ...readSource(image_url.url, `${field}.image_url.url`) };
  });
};

/** A URL, an object with one, or a file of a form. */
const readFirstFrame = (value: unknown): WantedMedia | undefined => {
  if (value === undefined) return undefined;
  const field = 'input_reference';
  const frame = { kind: 'image', use: 'first_frame' } as const;
  if (value instanceof FormFile) return { ...frame, field, source: value };
  if (typeof value === 'string' || value instanceof Uint8Array)
    return { ...frame, ...readSource(value, field) };
  if (!isObject(value) || value.image_url === undefined || value.image_url === null)
    throw invalid(`${field} must be a URL, a data URI or an object with image_url`);
  const other = Object.keys(value).find((name) => name !== 'image_url' && value[name] !== null);
  if (other !== undefined)
    throw fail('unsupported_parameter', `${field}.${other.slice(0, 100)} is not supported`);
  return { ...frame, ...readSource(value.image_url, `${field}.image_url`) };
};

const kinds = { image_url: 'image', video_url: 'video', audio_url: 'audio' } as const;

const readReferences = (references: readonly InputReference[], spec: VideoSpec): readonly WantedMedia[] => {
  const wanted = references.map((reference, index): WantedMedia => {
    const field = `input_references[${index}]`;
    const { type, role = 'reference' } = reference;
    if (role !== 'reference')
      throw fail('unsupported_parameter', `${field}.role ${role} is not supported by this model`);
    const { url } = required(reference[type], `${field}.${type}`);
    return { kind: kinds[type], use: 'reference', ...readSource(url, `${field}.${type}.url`) };
  });
  checkCounts(wanted, spec);
  return wanted;
};

const checkCounts = (wanted: readonly WantedMedia[], { references }: VideoSpec): void => {
  const most = references ?? { images: 0, videos: 0, audio: 0, total: 0 };
  const refuse = (count: number, what: string) =>
    invalid(`input_references must have at most ${count} ${what}`);
  if (wanted.length > most.total) throw refuse(most.total, 'items');
  for (const [kind, count, what] of [
    ['image', most.images, 'images'],
    ['video', most.videos, 'videos'],
    ['audio', most.audio, 'audio clips'],
  ] as const)
    if (wanted.filter((one) => one.kind === kind).length > count) throw refuse(count, what);
};

const readSource = (source: unknown, field: string): Pick<WantedMedia, 'field' | 'source'> => {
  if (typeof source === 'string' || source instanceof Uint8Array) return { field, source };
  throw source === undefined || source === null
    ? invalid(`${field} is required`)
    : invalid(`${field} must be a string`);
};
