/** Content blocks as the messages format writes them, in; ours, out. Images are noted for reading, with an empty text in their place. */
import type { Model } from '../../schemas/catalog.ts';
import type { ImageSource, InputBlock, ToolResultPart } from '../../schemas/messages.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/chat.ts';
import { mediaReading } from '../conversation/media-parts.ts';
import type { Reading } from '../conversation/read-media.ts';
import { required } from '../core/required.ts';
import { toCallId } from './tool-use-ids.ts';

/** Where images go that are still to be read. */
export interface Images {
  readonly model: Model;
  readonly readings: Reading[];
}

export const readText = (text: string | undefined, path: string): TextContent => ({
  type: 'text',
  text: required(text, `${path}.text`),
});

export const readImage = (
  source: ImageSource | undefined,
  path: string,
  into: UserContent[],
  { model, readings }: Images,
): void => {
  const field = `${path}.source`;
  const { type, media_type, data, url } = required(source, field);
  const at = into.length;
  const place = (content: UserContent): void => {
    into[at] = content;
  };
  const reading =
    type === 'url'
      ? mediaReading('image', required(url, `${field}.url`), `${field}.url`, path, model)
      : {
          ...mediaReading('image', required(data, `${field}.data`), `${field}.data`, path, model),
          declared: required(media_type, `${field}.media_type`),
        };
  readings.push({ ...reading, place });
  into.push({ type: 'text', text: '' });
};

export const readToolUse = ({ id, name, input }: InputBlock, path: string): ToolCall => ({
  id: toCallId(required(id, `${path}.id`)),
  name: required(name, `${path}.name`),
  arguments: JSON.stringify(required(input, `${path}.input`), bytesAsText),
});

/** A result's images go into the user's own message after it: most engines take them nowhere else. */
export const readToolResult = (
  { tool_use_id, content = '', is_error }: InputBlock,
  path: string,
  after: UserContent[],
  images: Images,
): ChatMessage => {
  const texts: TextContent[] = is_error === true ? [failed] : [];
  const parts: readonly ToolResultPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  parts.forEach((part, at) => {
    const field = `${path}.content[${at}]`;
    if (part.type === 'text') texts.push(readText(part.text, field));
    else {
      texts.push(shownBelow);
      readImage(part.source, field, after, images);
    }
  });
  return { role: 'tool', callId: toCallId(required(tool_use_id, `${path}.tool_use_id`)), content: texts };
};

/** Engines have no field for it. */
const failed: TextContent = { type: 'text', text: 'Error:' };
const shownBelow: TextContent = { type: 'text', text: '(image in the next message)' };

/** Long base64 in a large request was taken out as bytes, an argument's too. */
const bytesAsText = (_: string, value: unknown): unknown =>
  value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
