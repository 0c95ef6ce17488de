/** Reads the content of a chat message; media is collected to be read later. */
import type { Model } from '../../schemas/catalog.ts';
import type { ChatRequestMessage, ContentPart } from '../../schemas/chat.ts';
import type { MediaContent, TextContent, UserContent } from '../../src/ports/chat.ts';
import type { Base64 } from '../../src/ports/media.ts';
import { addMedia, type MediaCollector, type MediaReference } from '../conversation/read-media.ts';
import { invalid, required } from '../core/checks.ts';

type Content = NonNullable<ChatRequestMessage['content']>;

/** Content of every role but `user`. */
export const readText = (content: Content, field: string, role: string): TextContent[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.map((part, at) => textOf(part, `${field}[${at}]`, role));

const textOf = (part: ContentPart, field: string, role: string): TextContent => {
  if (part.type === 'text') return { type: 'text', text: required(part.text, `${field}.text`) };
  if (part.type === 'refusal' && role === 'assistant') {
    return { type: 'text', text: required(part.refusal, `${field}.refusal`) };
  }
  throw invalid(`${field}.type ${part.type} is not supported on messages of role ${role}`);
};

/** Content of a `user` message. */
export const readUserContent = (content: Content, field: string, media: MediaCollector): UserContent[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const read: UserContent[] = [];
  content.forEach((part, at) => {
    const path = `${field}[${at}]`;
    if (part.type === 'text' || part.type === 'refusal') read.push(textOf(part, path, 'user'));
    else addMedia(referenceOf(part, path, media.model), read, media);
  });
  return read;
};

const referenceOf = (part: ContentPart, path: string, model: Model): MediaReference => {
  switch (part.type) {
    case 'image_url': {
      const image = required(part.image_url, `${path}.image_url`);
      const reference = mediaReference('image', image.url, `${path}.image_url.url`, path, model);
      return image.detail === undefined ? reference : { ...reference, detail: image.detail };
    }
    case 'video_url': {
      const video = required(part.video_url, `${path}.video_url`);
      return mediaReference('video', video.url, `${path}.video_url.url`, path, model);
    }
    case 'input_audio':
      return audioReference(required(part.input_audio, `${path}.input_audio`), path, model);
    default:
      return documentReference(required(part.file, `${path}.file`), `${path}.file`);
  }
};

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

/** Schemas leave these open: long base64 of a large request is parsed to bytes. */
export const sourceOf = (value: unknown, field: string): Base64 => {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw invalid(`${field} must be a string`);
};
