/** Reads the turns of a messages request: those of one role are merged, tool results come first. */
import type { CountTokensRequest, InputBlock, InputMessage } from '../../schemas/messages.ts';
import type { ChatMessage, TextContent, ToolCall, UserContent } from '../../src/ports/chat.ts';
import type { MediaCollector } from '../conversation/read-media.ts';
import { invalid } from '../core/checks.ts';
import { readImage, readText, readToolResult, readToolUse } from './read-blocks.ts';

export const readTurns = (
  { system, messages }: Pick<CountTokensRequest, 'system' | 'messages'>,
  media: MediaCollector,
): ChatMessage[] => {
  const read = readSystem(system);
  for (let start = 0, end = 0; start < messages.length; start = end) {
    end = endOfTurn(messages, start);
    const turn: Turn = { messages, start, end };
    switch (messages[start]?.role) {
      case 'user':
        readUser(turn, read, media);
        break;
      case 'assistant':
        readAssistant(turn, read);
        break;
      default:
        readSystemMessage(turn, read);
    }
  }
  return read;
};

/** Messages of one role in a row. */
interface Turn {
  readonly messages: readonly InputMessage[];
  readonly start: number;
  readonly end: number;
}

/** System messages are not merged, so that a second one in a row is seen to follow no user. */
const endOfTurn = (messages: readonly InputMessage[], start: number): number => {
  const role = messages[start]?.role;
  let end = start + 1;
  if (role !== 'system') while (messages[end]?.role === role) end++;
  return end;
};

const readSystem = (system: CountTokensRequest['system']): ChatMessage[] => {
  if (system === undefined || system.length === 0) return [];
  const content: TextContent[] =
    typeof system === 'string'
      ? [{ type: 'text', text: system }]
      : system.map(({ text }) => ({ type: 'text', text }));
  return [{ role: 'system', content }];
};

const readUser = (turn: Turn, read: ChatMessage[], media: MediaCollector): void => {
  const content: UserContent[] = [];
  eachBlock(turn, (block, path) => {
    if (block.type === 'text') content.push(readText(block.text, path));
    else if (block.type === 'image') readImage(block.source, path, content, media);
    else if (block.type === 'tool_result') read.push(readToolResult(block, path, content, media));
    else throw misplaced(block, path, 'user');
  });
  if (content.length > 0) read.push({ role: 'user', content });
};

const readAssistant = (turn: Turn, read: ChatMessage[]): void => {
  const content: TextContent[] = [];
  const toolCalls: ToolCall[] = [];
  eachBlock(turn, (block, path) => {
    if (block.type === 'text') content.push(readText(block.text, path));
    else if (block.type === 'tool_use') toolCalls.push(readToolUse(block, path));
    // Clients send thinking back with the text it led to; no engine takes it, whoever signed it.
    else if (block.type !== 'thinking' && block.type !== 'redacted_thinking')
      throw misplaced(block, path, 'assistant');
  });
  read.push({ role: 'assistant', content, toolCalls });
};

const readSystemMessage = (turn: Turn, read: ChatMessage[]): void => {
  const { messages, start, end } = turn;
  const role = `messages[${start}].role system`;
  if (messages[start - 1]?.role !== 'user') throw invalid(`${role} must follow a user message`);
  if (end < messages.length && messages[end]?.role !== 'assistant')
    throw invalid(`${role} must be last or precede an assistant message`);
  const content: TextContent[] = [];
  eachBlock(turn, (block, path) => {
    if (block.type !== 'text') throw misplaced(block, path, 'system');
    content.push(readText(block.text, path));
  });
  read.push({ role: 'system', content });
};

const eachBlock = (
  { messages, start, end }: Turn,
  visit: (block: InputBlock, path: string) => void,
): void => {
  for (let at = start; at < end; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    const path = `messages[${at}]`;
    checkMessage(message, path);
    const { content } = message;
    if (typeof content === 'string') visit({ type: 'text', text: content }, `${path}.content`);
    else for (const [index, block] of content.entries()) visit(block, `${path}.content[${index}]`);
  }
};

const checkMessage = ({ role, content, output_config }: InputMessage, path: string): void => {
  if (output_config !== undefined)
    throw invalid(`${path}.output_config is not supported: it belongs to the whole request`);
  // A message of ours may have been empty, and is replayed as it was.
  if (content.length === 0 && typeof content !== 'string' && role !== 'assistant')
    throw invalid(`${path}.content must have at least 1 item`);
};

const misplaced = ({ type }: InputBlock, path: string, role: string) =>
  invalid(`${path}.type ${type} is not supported on messages of role ${role}`);
