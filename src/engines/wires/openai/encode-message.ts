/** Encodes one chat message as OpenAI-like servers take it. */

import { escaped } from '../../../helpers/quoted.ts';
import type { ChatMessage, MediaContent, TextContent, UserContent } from '../../../ports/engines/chat.ts';
import type { LargeMedia } from '../shared/large-media.ts';

/** Most messages are one text: concatenating those takes half the time of serializing an object. */
export const messageJson = (message: ChatMessage, large: LargeMedia): string => {
  const text = onlyText(message);
  return text === undefined
    ? JSON.stringify(encodeMessage(message, large))
    : `${message.role === 'user' ? userOpening : systemOpening}${escaped(text)}"}`;
};

const userOpening = '{"role":"user","content":"';
const systemOpening = '{"role":"system","content":"';

/** Of a message with nothing else. */
const onlyText = (message: ChatMessage): string | undefined => {
  if (message.role === 'tool' || message.role === 'assistant' || message.name !== undefined) return undefined;
  const only = message.content[0];
  return message.content.length === 1 && only?.type === 'text' ? only.text : undefined;
};

const encodeMessage = (message: ChatMessage, large: LargeMedia) => {
  switch (message.role) {
    case 'system':
    case 'developer':
      // Chat templates know `system`; to most of them `developer` is an error.
      return { role: 'system', content: plainText(message.content), name: message.name };
    case 'user': {
      const content = encodeContent(message.content, large);
      return message.name === undefined
        ? { role: 'user', content }
        : { role: 'user', content, name: message.name };
    }
    case 'assistant':
      return {
        role: 'assistant',
        content: plainText(message.content),
        reasoning_content: message.thoughts?.map(({ text }) => text).join('\n'),
        tool_calls: message.toolCalls.length === 0 ? undefined : message.toolCalls.map(encodeToolCall),
        name: message.name,
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: encodeContent(message.content, large) };
  }
};

const encodeToolCall = (call: { id: string; name: string; arguments: string }) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: call.arguments },
});

/** Text alone is sent as a string, which every server takes for every role; a list only where media needs one. */
const encodeContent = (content: readonly UserContent[], large: LargeMedia) =>
  content.every(isText) ? plainText(content) : content.map((part) => encodePart(part, large));

const isText = (part: UserContent): part is TextContent => part.type === 'text';

/** Servers themselves join text parts with a line break. */
const plainText = (content: readonly TextContent[]): string =>
  content.length === 1 && content[0] !== undefined
    ? content[0].text
    : content.map((part) => part.text).join('\n');

const encodePart = (part: UserContent, large: LargeMedia) => {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image':
      return { type: 'image_url', image_url: { url: dataUri(part, large), detail: part.detail } };
    case 'video':
      return { type: 'video_url', video_url: { url: dataUri(part, large) } };
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: large.setAside(part.base64), format: audioFormat(part.mediaType) },
      };
  }
};

const dataUri = (media: Pick<MediaContent, 'mediaType' | 'base64'>, large: LargeMedia): string =>
  `data:${media.mediaType};base64,${large.setAside(media.base64)}`;

const audioFormats: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wave': 'wav',
  'audio/x-wav': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/x-flac': 'flac',
};

const audioFormat = (mediaType: string): string =>
  audioFormats[mediaType] ?? mediaType.slice(mediaType.indexOf('/') + 1);
