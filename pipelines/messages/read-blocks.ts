/** Reads content blocks of the messages format; images are collected to be read later. */
import type { ImageSource, InputBlock, ToolResultPart } from '../../schemas/messages.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/chat.ts';
import { mediaReference } from '../conversation/media-parts.ts';
import { addMedia, type MediaCollector } from '../conversation/read-media.ts';
import { required } from '../core/checks.ts';
import { freeJson } from '../core/parse-json.ts';
import { toCallId } from './tool-use-ids.ts';

export const readText = (text: string | undefined, path: string): TextContent => ({
  type: 'text',
  text: required(text, `${path}.text`),
});

export const readImage = (
  source: ImageSource | undefined,
  path: string,
  into: UserContent[],
  media: MediaCollector,
): void => {
  const field = `${path}.source`;
  const { type, media_type, data, url } = required(source, field);
  const reference =
    type === 'url'
      ? mediaReference('image', required(url, `${field}.url`), `${field}.url`, path, media.model)
      : {
          ...mediaReference('image', required(data, `${field}.data`), `${field}.data`, path, media.model),
          declared: required(media_type, `${field}.media_type`),
        };
  addMedia(reference, into, media);
};

export const readToolUse = ({ id, name, input }: InputBlock, path: string): ToolCall => ({
  id: toCallId(required(id, `${path}.id`)),
  name: required(name, `${path}.name`),
  arguments: JSON.stringify(freeJson(required(input, `${path}.input`))),
});

/** A result's images go into the user's own message after it: most engines take them nowhere else. */
export const readToolResult = (
  { tool_use_id, content = '', is_error }: InputBlock,
  path: string,
  after: UserContent[],
  media: MediaCollector,
): ChatMessage => {
  const texts: TextContent[] = is_error === true ? [failed] : [];
  const parts: readonly ToolResultPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  parts.forEach((part, at) => {
    const field = `${path}.content[${at}]`;
    if (part.type === 'text') texts.push(readText(part.text, field));
    else {
      texts.push(shownBelow);
      readImage(part.source, field, after, media);
    }
  });
  return { role: 'tool', callId: toCallId(required(tool_use_id, `${path}.tool_use_id`)), content: texts };
};

/** Engines have no field for it. */
const failed: TextContent = { type: 'text', text: 'Error:' };
const shownBelow: TextContent = { type: 'text', text: '(image in the next message)' };
