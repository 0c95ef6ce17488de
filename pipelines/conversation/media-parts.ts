/** Describes the media and documents of a request that must be read; a 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { ContentPart } from '../../schemas/chat.ts';
import { fail } from '../../src/errors.ts';
import type { MediaContent } from '../../src/ports/chat.ts';
import { required, sourceOf } from '../core/required.ts';
import type { Reading } from './read-media.ts';

/** 400 when the model does not take this kind of media. */
export const mediaReading = (
  kind: MediaContent['type'],
  source: unknown,
  field: string,
  path: string,
  model: Model,
): Omit<Reading, 'place'> => {
  if (!model.input_modalities.includes(kind)) {
    throw fail('invalid_request', `${path}: model ${model.id} takes no ${kind} input`);
  }
  return { kind, source: sourceOf(source, field), field };
};

/** Sound as bare base64, under `input_audio` of the part at `path`. */
export const audioReading = (
  { data, format }: NonNullable<ContentPart['input_audio']>,
  path: string,
  model: Model,
): Omit<Reading, 'place'> => ({
  ...mediaReading('audio', data, `${path}.input_audio.data`, path, model),
  declared: audioTypes[format],
});

/** A document in the `file_data` of the object at `path`. */
export const documentReading = (
  file: NonNullable<ContentPart['file']>,
  path: string,
): Omit<Reading, 'place'> => {
  const field = `${path}.file_data`;
  if (file.file_data === undefined && file.file_id !== undefined)
    throw fail('invalid_request', `${path}.file_id is not supported: send the document as file_data`);
  const source = sourceOf(required(file.file_data, field), field);
  const reading = { kind: 'document', source, field } as const;
  return file.filename === undefined ? reading : { ...reading, filename: file.filename };
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
