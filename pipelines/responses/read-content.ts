/** Content parts as the responses format writes them, in; ours, out. Media is noted for reading, with an empty text in its place. */
import type { Model } from '../../schemas/catalog.ts';
import type { InputItem, InputPart } from '../../schemas/responses.ts';
import { type ApiError, fail } from '../../src/errors.ts';
import type { TextContent, UserContent } from '../../src/ports/chat.ts';
import { audioReading, documentReading, mediaReading } from '../conversation/media-parts.ts';
import type { Reading } from '../conversation/read-media.ts';
import { required, sourceOf } from '../core/required.ts';

type Content = NonNullable<InputItem['content']>;

/** Where media goes that is still to be read. */
export interface MediaShelf {
  readonly model: Model;
  readonly readings: Reading[];
}

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
  shelf: MediaShelf,
): UserContent[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const read: UserContent[] = [];
  content.forEach((part, at) => {
    const path = `${field}[${at}]`;
    const text = textOf(part, path, 'user');
    if (text !== undefined) read.push({ type: 'text', text });
    else shelve(readingOf(part, path, shelf.model), read, shelf);
  });
  return read;
};

/** What a function gave back. Its media goes into `after`: most engines take media on user messages only. */
export const readFunctionOutput = (
  output: Content,
  field: string,
  after: UserContent[],
  shelf: MediaShelf,
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
    const reading = readingOf(part, path, shelf.model);
    if (reading.kind === 'document') {
      shelve(reading, read, shelf);
    } else {
      read.push({ type: 'text', text: `(${reading.kind} in the next message)` });
      shelve(reading, after, shelf);
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

const readingOf = (part: InputPart, path: string, model: Model): Omit<Reading, 'place'> => {
  switch (part.type) {
    case 'input_image': {
      if (part.image_url === undefined && part.file_id !== undefined)
        throw fail('invalid_request', `${path}.file_id is not supported: send the image as image_url`);
      const field = `${path}.image_url`;
      const reading = mediaReading('image', required(part.image_url, field), field, path, model);
      return part.detail === undefined ? reading : { ...reading, detail: part.detail };
    }
    case 'input_video': {
      const field = `${path}.video_url`;
      return mediaReading('video', required(part.video_url, field), field, path, model);
    }
    case 'input_audio':
      return audioReading(required(part.input_audio, `${path}.input_audio`), path, model);
    case 'input_file':
      return part.file_url === undefined ? documentReading(part, path) : linkedDocument(part, path);
    default:
      throw misplaced(part, path, 'input that is not an assistant message');
  }
};

const linkedDocument = ({ file_url, filename }: InputPart, path: string): Omit<Reading, 'place'> => {
  const field = `${path}.file_url`;
  const reading = { kind: 'document', source: sourceOf(file_url, field), field } as const;
  return filename === undefined ? reading : { ...reading, filename };
};

const shelve = (reading: Omit<Reading, 'place'>, into: UserContent[], { readings }: MediaShelf): void => {
  const at = into.length;
  into.push({ type: 'text', text: '' });
  readings.push({
    ...reading,
    place: (content) => {
      into[at] = content;
    },
  });
};

const misplaced = ({ type }: InputPart, path: string, where: string): ApiError =>
  fail('invalid_request', `${path}.type ${type} is not supported on ${where}`);
