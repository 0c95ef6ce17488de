/** Reads the `messages` of a chat request. */
import { fail } from '../../errors.ts';
import { isObject } from '../../helpers/json-schema.ts';
import type {
  ChatMessage,
  MediaContent,
  TextContent,
  ToolCall,
  UserContent,
} from '../../ports/engines/chat.ts';
import { optionalArray, optionalObject, optionalString, required } from './fields.ts';

export function readMessages(value: unknown): readonly ChatMessage[] {
  const messages = required(optionalArray(value, 'messages'), 'messages');
  if (messages.length === 0) throw fail('invalid_request', 'messages must have at least one item');
  return messages.map((message, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(value: unknown, field: string): ChatMessage {
  const message = required(optionalObject(value, field), field);
  const content = readContent(message.content, `${field}.content`);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: message.role, content: content.filter(isText) };
    case 'user':
      return { role: 'user', content };
    case 'assistant': {
      const calls = optionalArray(message.tool_calls, `${field}.tool_calls`) ?? [];
      const toolCalls = calls.map((call, index) => readToolCall(call, `${field}.tool_calls[${index}]`));
      return { role: 'assistant', content: content.filter(isText), toolCalls };
    }
    case 'tool': {
      const callId = optionalString(message.tool_call_id, `${field}.tool_call_id`) ?? '';
      return { role: 'tool', callId, content };
    }
    default:
      throw fail('invalid_request', `${field}.role must be system, developer, user, assistant or tool`);
  }
}

const isText = (part: UserContent): part is TextContent => part.type === 'text';

function readContent(value: unknown, field: string): readonly UserContent[] {
  if (value === null || value === undefined) return [];
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  const parts = required(optionalArray(value, field), field);
  return parts.map((part, index) => readPart(part, `${field}[${index}]`));
}

function readPart(value: unknown, field: string): UserContent {
  const part = required(optionalObject(value, field), field);
  switch (part.type) {
    case 'text':
      return { type: 'text', text: required(optionalString(part.text, `${field}.text`), `${field}.text`) };
    case 'image_url':
      return readMedia('image', part.image_url, `${field}.image_url`);
    case 'video_url':
      return readMedia('video', part.video_url, `${field}.video_url`);
    case 'audio_url':
      return readMedia('audio', part.audio_url, `${field}.audio_url`);
    case 'input_audio': {
      const inner = `${field}.input_audio`;
      const audio = required(optionalObject(part.input_audio, inner), inner);
      const base64 = optionalString(audio.data, `${inner}.data`) ?? '';
      return { type: 'audio', mediaType: `audio/${String(audio.format ?? 'wav')}`, base64 };
    }
    default:
      throw fail('invalid_request', `${field}.type is not known`);
  }
}

/** Data URIs are taken as they are; other addresses are not fetched. */
function readMedia(type: MediaContent['type'], value: unknown, field: string): MediaContent {
  const media = isObject(value) ? value : { url: value };
  const url = required(optionalString(media.url, `${field}.url`), `${field}.url`);
  const comma = url.indexOf(',');
  if (!url.startsWith('data:') || comma === -1) return { type, mediaType: `${type}/*`, base64: '' };
  const mediaType = url.slice('data:'.length, comma).split(';', 1)[0] ?? '';
  return { type, mediaType, base64: url.slice(comma + 1) };
}

function readToolCall(value: unknown, field: string): ToolCall {
  const call = required(optionalObject(value, field), field);
  const target = required(optionalObject(call.function, `${field}.function`), `${field}.function`);
  return {
    id: optionalString(call.id, `${field}.id`) ?? '',
    name: optionalString(target.name, `${field}.function.name`) ?? '',
    arguments: optionalString(target.arguments, `${field}.function.arguments`) ?? '',
  };
}
