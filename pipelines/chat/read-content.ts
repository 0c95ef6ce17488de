/** The content of one message as the chat dialect writes it, in; ours, out. Media is noted for reading, with an empty text in its place. */
import type { Model } from '../../schemas/catalog.ts';
import type { ChatRequestMessage, ContentPart } from '../../schemas/chat.ts';
import { fail } from '../../src/errors.ts';
import type { TextContent, UserContent } from '../../src/ports/chat.ts';
import { audioReading, documentReading, mediaReading } from '../conversation/media-parts.ts';
import type { Reading } from '../conversation/read-media.ts';
import { required } from '../core/required.ts';

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
  throw fail('invalid_request', `${field}.type ${part.type} is not supported on messages of role ${role}`);
};

/** Content of a `user` message; what must be fetched, decoded or converted is added to `readings`. */
export const readUserContent = (
  content: Content,
  field: string,
  model: Model,
  readings: Reading[],
): UserContent[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const read: UserContent[] = [];
  content.forEach((part, at) => {
    const path = `${field}[${at}]`;
    if (part.type === 'text' || part.type === 'refusal') {
      read.push(textOf(part, path, 'user'));
      return;
    }
    readings.push({ ...readingOf(part, path, model), place: (content) => (read[at] = content) });
    read.push({ type: 'text', text: '' });
  });
  return read;
};

const readingOf = (part: ContentPart, path: string, model: Model): Omit<Reading, 'place'> => {
  switch (part.type) {
    case 'image_url': {
      const image = required(part.image_url, `${path}.image_url`);
      const reading = mediaReading('image', image.url, `${path}.image_url.url`, path, model);
      return image.detail === undefined ? reading : { ...reading, detail: image.detail };
    }
    case 'video_url': {
      const video = required(part.video_url, `${path}.video_url`);
      return mediaReading('video', video.url, `${path}.video_url.url`, path, model);
    }
    case 'input_audio':
      return audioReading(required(part.input_audio, `${path}.input_audio`), path, model);
    default:
      return documentReading(required(part.file, `${path}.file`), `${path}.file`);
  }
};
