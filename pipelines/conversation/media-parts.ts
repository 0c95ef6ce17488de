/** Describes the media and documents of a request that are to be loaded; a 400 names the field. */
import type { Model } from '../../schemas/catalog.ts';
import type { ContentPart } from '../../schemas/chat/content.ts';
import { checkSource } from '../../src/media/check-source.ts';
import type { MediaContent, UserContent } from '../../src/ports/engines/chat.ts';
import type { Base64 } from '../../src/ports/media.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid, required, sourceOf } from '../core/checks.ts';

/** Media or a document that a request refers to. */
export interface MediaReference {
  readonly kind: MediaContent['type'] | 'document';
  /** https URL or base64 data URI; bare base64 where `declared` is its media type. */
  readonly source: Base64;
  readonly declared?: string;
  /** Path of the source in the request, named in errors. */
  readonly field: string;
  readonly detail?: string;
  /** Of a document; the model sees it too. */
  readonly filename?: string | undefined;
  /** What the client says of a document; the model sees it below the name. */
  readonly context?: string | undefined;
}

/** A reference that is still to be loaded; `content[index]` is a placeholder until then. */
export interface PendingMedia extends MediaReference {
  readonly content: UserContent[];
  readonly index: number;
}

/** What the readers of message content fill while they run. */
export interface MediaCollector {
  readonly model: Model;
  readonly pending: PendingMedia[];
}

export const addMedia = (
  reference: MediaReference,
  content: UserContent[],
  { pending }: MediaCollector,
): void => {
  pending.push({ ...reference, content, index: content.length });
  content.push({ type: 'text', text: '' });
};

const mostReferences = 64;

/** Their number and addresses: all that can be checked before anything is loaded. */
export const checkPending = (
  pending: readonly PendingMedia[],
  promptField: string,
  { allowPrivateUrls }: Pick<Ports, 'allowPrivateUrls'>,
): void => {
  if (pending.length > mostReferences)
    throw invalid(`${promptField} must not have more than ${mostReferences} media and document parts`);
  for (const { source, declared, field } of pending)
    if (declared === undefined) checkSource(source, field, { allowPrivate: allowPrivateUrls });
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

/** What the model sees above the text of a document. */
export const documentHeading = (filename = 'document', context?: string): string =>
  context === undefined ? filename : `${filename}\n\n${context}`;

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
