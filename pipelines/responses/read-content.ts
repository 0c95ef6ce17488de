/** Reads content parts of the responses format; media is collected to be read later. */
import type { Model } from '../../schemas/catalog.ts';
import type { InputPart, ReadItem } from '../../schemas/responses/input.ts';
import type { ApiError } from '../../src/errors.ts';
import type { TextContent, UserContent } from '../../src/ports/engines/chat.ts';
import {
  addMedia,
  audioReference,
  documentReference,
  type MediaCollector,
  type MediaReference,
  mediaReference,
} from '../conversation/media-parts.ts';
import { invalid, required, sourceOf } from '../core/checks.ts';

type Content = NonNullable<ReadItem['content']>;

/** Content of every role but `user`. */
export const readResponsesText = (content: Content, field: string, role: string): TextContent[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.map((part, at) => {
        const path = `${field}[${at}]`;
        const text = textOf(part, path, role);
        if (text === undefined) throw misplaced(part, path, `messages of role ${role}`);
        return { type: 'text', text };
      });

export const readResponsesUserContent = (
  content: Content,
  field: string,
  media: MediaCollector,
): UserContent[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const read: UserContent[] = [];
  content.forEach((part, at) => {
    const path = `${field}[${at}]`;
    const text = textOf(part, path, 'user');
    if (text !== undefined) read.push({ type: 'text', text });
    else addMedia(referenceOf(part, path, media.model), read, media);
  });
  return read;
};

/** The output of a function call. Its media goes into `after`: most engines take media on user messages only. */
export const readFunctionOutput = (
  output: Content,
  field: string,
  after: UserContent[],
  media: MediaCollector,
): UserContent[] => {
  if (typeof output === 'string') return [{ type: 'text', text: output }];
  const read: UserContent[] = [];
  output.forEach((part, at) => {
    const path = `${field}[${at}]`;
    const text = textOf(part, path, 'function');
    if (text !== undefined) {
      read.push({ type: 'text', text });
      return;
    }
    const reference = referenceOf(part, path, media.model);
    if (reference.kind === 'document') {
      addMedia(reference, read, media);
    } else {
      read.push({ type: 'text', text: `(${reference.kind} in the next message)` });
      addMedia(reference, after, media);
    }
  });
  return read;
};

/** Undefined for a part that is no text. */
const textOf = (part: InputPart, path: string, role: string): string | undefined => {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return required(part.text, `${path}.text`);
    case 'refusal':
      if (role === 'assistant') return required(part.refusal, `${path}.refusal`);
  }
  return undefined;
};

const referenceOf = (part: InputPart, path: string, model: Model): MediaReference => {
  switch (part.type) {
    case 'input_image': {
      if (part.image_url === undefined && part.file_id !== undefined)
        throw invalid(`${path}.file_id is not supported: send the image as image_url`);
      const field = `${path}.image_url`;
      const reference = mediaReference('image', required(part.image_url, field), field, path, model);
      return part.detail === undefined ? reference : { ...reference, detail: part.detail };
    }
    case 'input_video': {
      const field = `${path}.video_url`;
      return mediaReference('video', required(part.video_url, field), field, path, model);
    }
    case 'input_audio':
      return audioReference(required(part.input_audio, `${path}.input_audio`), path, model);
    case 'input_file':
      return part.file_url === undefined ? documentReference(part, path) : linkedDocument(part, path);
    default:
      throw misplaced(part, path, 'input that is not an assistant message');
  }
};

const linkedDocument = ({ file_url, filename }: InputPart, path: string): MediaReference => {
  const field = `${path}.file_url`;
  const reference = { kind: 'document', source: sourceOf(file_url, field), field } as const;
  return filename === undefined ? reference : { ...reference, filename };
};

const misplaced = ({ type }: InputPart, path: string, where: string): ApiError =>
  invalid(`${path}.type ${type} is not supported on ${where}`);
