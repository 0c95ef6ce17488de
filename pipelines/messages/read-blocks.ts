/** Reads content blocks of the messages format; images and documents are collected to be read later. */
import type {
  DocumentBlock,
  ImageSource,
  SearchResultBlock,
  ToolResultBlock,
  ToolResultPart,
  ToolUseBlock,
} from '../../schemas/messages/blocks.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/engines/chat.ts';
import {
  addMedia,
  documentHeading,
  type MediaCollector,
  mediaReference,
} from '../conversation/media-parts.ts';
import { sourceOf } from '../core/checks.ts';
import { freeJson } from '../core/parse-json.ts';
import { toCallId } from './tool-use-ids.ts';

export const readToolUse = ({ id, name, input }: ToolUseBlock): ToolCall => ({
  id: toCallId(id),
  name,
  arguments: JSON.stringify(freeJson(input)),
});

/** Where the parts of a block go. */
export interface Target {
  readonly content: UserContent[];
  /** The same, except for tool results: most engines take images in a user's message only. */
  readonly images: UserContent[];
  readonly media: MediaCollector;
}

export const readImage = (source: ImageSource, path: string, { content, images, media }: Target): void => {
  const field = `${path}.source`;
  const reference =
    source.type === 'url'
      ? mediaReference('image', source.url, `${field}.url`, path, media.model)
      : {
          ...mediaReference('image', source.data, `${field}.data`, path, media.model),
          declared: source.media_type,
        };
  addMedia(reference, images, media);
  if (images !== content) content.push(text('(image in the next message)'));
};

export const readDocument = ({ source, title, context }: DocumentBlock, path: string, to: Target): void => {
  const field = `${path}.source`;
  const document = { kind: 'document', filename: title, context } as const;
  const heading = documentHeading(title, context);
  switch (source.type) {
    case 'url': {
      const url = sourceOf(source.url, `${field}.url`);
      addMedia({ ...document, source: url, field: `${field}.url` }, to.content, to.media);
      break;
    }
    case 'base64': {
      const data = sourceOf(source.data, `${field}.data`);
      const reference = { ...document, source: data, declared: source.media_type, field: `${field}.data` };
      addMedia(reference, to.content, to.media);
      break;
    }
    case 'text':
      to.content.push(text(`${heading}\n\n${plainText(source.data, `${field}.data`)}`));
      break;
    case 'content':
      to.content.push(text(heading));
      readParts(source.content, `${field}.content`, to);
  }
};

/** Text that looks like base64 may have been parsed to bytes. */
const plainText = (data: unknown, field: string): string => {
  const source = sourceOf(data, field);
  return typeof source === 'string' ? source : Buffer.from(source).toString('latin1');
};

export const readSearchResult = ({ source, title, content }: SearchResultBlock): TextContent =>
  text([title, source, '', ...content.map((block) => block.text)].join('\n'));

export const readToolResult = (
  { tool_use_id, content = '', is_error }: ToolResultBlock,
  path: string,
  images: UserContent[],
  media: MediaCollector,
): ChatMessage => {
  // Engines have no field for it.
  const read: UserContent[] = is_error === true ? [text('Error:')] : [];
  readParts(content, `${path}.content`, { content: read, images, media });
  return { role: 'tool', callId: toCallId(tool_use_id), content: read };
};

const readParts = (parts: string | readonly ToolResultPart[], path: string, to: Target): void => {
  if (typeof parts === 'string') to.content.push(text(parts));
  else parts.forEach((part, at) => void readPart(part, `${path}[${at}]`, to));
};

const readPart = (part: ToolResultPart, path: string, to: Target): void => {
  switch (part.type) {
    case 'text':
      to.content.push(text(part.text));
      break;
    case 'image':
      readImage(part.source, path, to);
      break;
    case 'document':
      readDocument(part, path, to);
      break;
    case 'search_result':
      to.content.push(readSearchResult(part));
      break;
    case 'tool_reference':
      to.content.push(text(part.tool_name));
  }
};

export const text = (words: string): TextContent => ({ type: 'text', text: words });
