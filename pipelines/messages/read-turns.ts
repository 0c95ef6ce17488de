/** Reads the turns of a messages request: those of one role are merged, tool results come first. */
import type { InputBlock } from '../../schemas/messages/blocks.ts';
import type { CountTokensRequest, InputMessage } from '../../schemas/messages/request.ts';
import type {
  ChatMessage,
  TextContent,
  Thought,
  ToolCall,
  UserContent,
} from '../../src/ports/engines/chat.ts';
import type { MediaCollector } from '../conversation/media-parts.ts';
import { invalid } from '../core/checks.ts';
import {
  readDocument,
  readImage,
  readSearchResult,
  readToolResult,
  readToolUse,
  text,
} from './read-blocks.ts';
import { toCallId } from './tool-use-ids.ts';

/** The engine's own signature of a thought; undefined when it is none of the engine that is called. */
export type Unseal = (signature: string) => string | undefined;

export const readTurns = (
  { system, messages }: Pick<CountTokensRequest, 'system' | 'messages'>,
  media: MediaCollector,
  unseal: Unseal,
): ChatMessage[] => {
  const conversation: Conversation = { read: readSystem(system), calls: new Set(), media, unseal };
  for (let start = 0, end = 0; start < messages.length; start = end) {
    end = endOfTurn(messages, start);
    const turn: Turn = { messages, start, end };
    switch (messages[start]?.role) {
      case 'user':
        readUser(turn, conversation);
        break;
      case 'assistant':
        readAssistant(turn, conversation);
        break;
      default:
        readSystemMessage(turn, conversation);
    }
  }
  return conversation.read;
};

/** What was read so far. */
interface Conversation {
  readonly read: ChatMessage[];
  /** Ids of its tool calls. */
  readonly calls: Set<string>;
  readonly media: MediaCollector;
  readonly unseal: Unseal;
}

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
  const content = typeof system === 'string' ? [text(system)] : system.map((block) => text(block.text));
  return [{ role: 'system', content }];
};

const readUser = (turn: Turn, { read, calls, media }: Conversation): void => {
  const content: UserContent[] = [];
  const target = { content, images: content, media };
  eachBlock(turn, (block, path) => {
    switch (block.type) {
      case 'text':
        content.push(text(block.text));
        break;
      case 'image':
        readImage(block.source, path, target);
        break;
      case 'document':
        readDocument(block, path, target);
        break;
      case 'search_result':
        content.push(readSearchResult(block));
        break;
      case 'tool_result':
        if (!calls.has(toCallId(block.tool_use_id))) throw withoutCall(block.tool_use_id, path);
        read.push(readToolResult(block, path, content, media));
        break;
      default:
        throw misplaced(block, path, 'user');
    }
  });
  if (content.length > 0) read.push({ role: 'user', content });
};

const readAssistant = (turn: Turn, { read, calls, unseal }: Conversation): void => {
  const content: TextContent[] = [];
  const thoughts: Thought[] = [];
  const toolCalls: ToolCall[] = [];
  eachBlock(turn, (block, path) => {
    switch (block.type) {
      case 'text':
        content.push(text(block.text));
        break;
      case 'thinking': {
        const signature = unseal(block.signature ?? '');
        if (signature !== undefined)
          thoughts.push({ before: content.length, text: block.thinking ?? '', signature });
        break;
      }
      case 'compaction':
        if (block.content !== undefined) content.push(text(block.content));
        break;
      case 'tool_use': {
        const call = readToolUse(block);
        calls.add(call.id);
        toolCalls.push(call);
        break;
      }
      case 'image':
      case 'document':
      case 'search_result':
      case 'tool_result':
        throw misplaced(block, path, 'assistant');
    }
  });
  read.push({ role: 'assistant', content, toolCalls, ...(thoughts.length > 0 && { thoughts }) });
};

const readSystemMessage = (turn: Turn, { read }: Conversation): void => {
  const { messages, start, end } = turn;
  const role = `messages[${start}].role system`;
  if (messages[start - 1]?.role !== 'user') throw invalid(`${role} must follow a user message`);
  if (end < messages.length && messages[end]?.role !== 'assistant')
    throw invalid(`${role} must be last or precede an assistant message`);
  const content: TextContent[] = [];
  eachBlock(turn, (block, path) => {
    if (block.type !== 'text') throw misplaced(block, path, 'system');
    content.push(text(block.text));
  });
  read.push({ role: 'system', content });
};

type Visit = (block: InputBlock, path: string) => void;

const eachBlock = ({ messages, start, end }: Turn, visit: Visit): void => {
  for (let at = start; at < end; at++) {
    const message = messages[at];
    if (message === undefined) continue;
    const path = `messages[${at}]`;
    checkMessage(message, path);
    const { content } = message;
    if (typeof content === 'string') visit(text(content), `${path}.content`);
    else eachOf(content, `${path}.content`, visit);
  }
};

/** Adjacent text blocks of a message are one text as they are: clients split it anywhere, to cache or to cite. */
const eachOf = (blocks: readonly InputBlock[], path: string, visit: Visit): void => {
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at];
    if (block?.type !== 'text') {
      if (block !== undefined) visit(block, `${path}[${at}]`);
      continue;
    }
    let joined = block.text;
    const first = at;
    for (let next = blocks[at + 1]; next?.type === 'text'; next = blocks[at + 1]) {
      joined += next.text;
      at++;
    }
    visit(text(joined), `${path}[${first}]`);
  }
};

const checkMessage = ({ role, content, output_config }: InputMessage, path: string): void => {
  if (output_config !== undefined)
    throw invalid(`${path}.output_config is not supported: it belongs to the whole request`);
  // A message of ours may have been empty, and is replayed as it was.
  if (content.length === 0 && typeof content !== 'string' && role !== 'assistant')
    throw invalid(`${path}.content must have at least 1 item`);
};

const withoutCall = (id: string, path: string) =>
  invalid(`${path}.tool_use_id must be the id of a tool_use block before it: there is no ${id}`);

const misplaced = ({ type }: InputBlock, path: string, role: string) =>
  invalid(`${path}.type ${type} is not supported on messages of role ${role}`);
