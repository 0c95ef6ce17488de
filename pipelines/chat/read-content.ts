/** Reads the content of a chat message; media is collected to be read later. */
import type { Model } from '../../schemas/catalog.ts';
import type { ContentPart } from '../../schemas/chat/content.ts';
import type { ChatRequestMessage } from '../../schemas/chat/request.ts';
import type { TextContent, UserContent } from '../../src/ports/engines/chat.ts';
import {
  addMedia,
  audioReference,
  documentReference,
  type MediaCollector,
  type MediaReference,
  mediaReference,
} from '../conversation/media-parts.ts';
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
