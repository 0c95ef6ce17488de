/** Describes the media and documents of a request that must be read; a 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { ContentPart } from '../../schemas/chat.ts';
import type { MediaContent } from '../../src/ports/chat.ts';
import { invalid, required, sourceOf } from '../core/checks.ts';
import type { MediaReference } from './read-media.ts';

/** An image, audio or video of any format; 400 when the model takes none. */
export const mediaReference = (
  kind: MediaContent['type'],
  source: unknown,
  field: string,
  path: string,
  model: Model,
): MediaReference => {
  if (!model.input_modalities.includes(kind))
    throw invalid(`${path}: model ${model.id} takes no ${kind} input`);
  return { kind, source: sourceOf(source, field), field };
};

/** Audio as bare base64, under `input_audio` of the part at `path`. */
export const audioReference = (
  { data, format }: NonNullable<ContentPart['input_audio']>,
  path: string,
  model: Model,
): MediaReference => ({
  ...mediaReference('audio', data, `${path}.input_audio.data`, path, model),
  declared: audioTypes[format],
});

/** A document in the `file_data` of the object at `path`. */
export const documentReference = (file: NonNullable<ContentPart['file']>, path: string): MediaReference => {
  const field = `${path}.file_data`;
  if (file.file_data === undefined && file.file_id !== undefined)
    throw invalid(`${path}.file_id is not supported: send the document as file_data`);
  const source = sourceOf(required(file.file_data, field), field);
  const reference = { kind: 'document', source, field } as const;
  return file.filename === undefined ? reference : { ...reference, filename: file.filename };
};

const audioTypes = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  webm: 'audio/webm',
  aac: 'audio/aac',
  aiff: 'audio/aiff',
} as const;
