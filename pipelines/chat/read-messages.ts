/** Reads the messages of a chat request. */
import type { ChatRequestMessage } from '../../schemas/chat/request.ts';
import type { ChatMessage, TextContent, ToolCall } from '../../src/ports/engines/chat.ts';
import type { MediaCollector } from '../conversation/media-parts.ts';
import { invalid } from '../core/checks.ts';
import { readText, readUserContent } from './read-content.ts';

export const readMessages = (
  messages: readonly ChatRequestMessage[],
  media: MediaCollector,
): ChatMessage[] => {
  const read = messages.map(
    (message, at) => plainMessage(message) ?? readMessage(message, `messages[${at}]`, media),
  );
  if (read.some(isToolResult)) checkToolResults(read);
  return read;
};

const isToolResult = ({ role }: ChatMessage): boolean => role === 'tool';

/** A result whose call the model never sees would be lost on it: the client dropped too much of its history. */
const checkToolResults = (messages: readonly ChatMessage[]): void => {
  const calls = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (message.role === 'assistant') for (const { id } of message.toolCalls) calls.add(id);
    if (message.role === 'tool' && !calls.has(message.callId))
      throw invalid(
        `messages[${at}].tool_call_id must be the id of a tool call in an earlier assistant message`,
      );
  }
};

/** Most are of this kind, and can have no fault that a path would have to name. */
const plainMessage = ({ role, content, name }: ChatRequestMessage): ChatMessage | undefined =>
  typeof content === 'string' && name === undefined && role !== 'assistant' && role !== 'tool'
    ? { role, content: [{ type: 'text', text: content }] }
    : undefined;

const readMessage = (message: ChatRequestMessage, path: string, media: MediaCollector): ChatMessage => {
  const { role, content, name } = message;
  if (role === 'assistant') return readAssistant(message, path);
  if (content === undefined || content.length === 0) {
    if (content !== '') throw invalid(`${path}.content is required`);
  }
  const field = `${path}.content`;
  if (role === 'tool') {
    if (message.tool_call_id === undefined) throw invalid(`${path}.tool_call_id is required`);
    return { role, callId: message.tool_call_id, content: readText(content, field, role) };
  }
  const read: ChatMessage =
    role === 'user'
      ? { role, content: readUserContent(content, field, media) }
      : { role, content: readText(content, field, role) };
  return name === undefined ? read : { ...read, name };
};

const readAssistant = (message: ChatRequestMessage, path: string): ChatMessage => {
  const toolCalls = message.tool_calls?.map(
    (call): ToolCall => ({ id: call.id, name: call.function.name, arguments: call.function.arguments }),
  );
  const read = {
    role: 'assistant',
    content: assistantText(message, path),
    toolCalls: toolCalls ?? [],
  } as const;
  return message.name === undefined ? read : { ...read, name: message.name };
};

/** Clients replay messages as they got them: without text where there were tool calls, a refusal or only reasoning. */
const assistantText = (message: ChatRequestMessage, path: string): TextContent[] => {
  const { content, refusal } = message;
  if (content !== undefined && content !== '' && content.length > 0)
    return readText(content, `${path}.content`, 'assistant');
  if (typeof refusal === 'string') return [{ type: 'text', text: refusal }];
  const replayed =
    content === '' ||
    (message.tool_calls?.length ?? 0) > 0 ||
    message.reasoning !== undefined ||
    message.reasoning_content !== undefined ||
    message.reasoning_details !== undefined;
  if (!replayed) throw invalid(`${path}.content is required on an assistant message without tool_calls`);
  return [];
};
