/** Encodes a conversation as the turns of the Messages API, of which no two in a row have one role. */
import { createHash } from 'node:crypto';
import { fail } from '../../../errors.ts';
import type {
  ChatCall,
  ChatMessage,
  TextContent,
  ToolCall,
  UserContent,
} from '../../../ports/engines/chat.ts';
import { isObject, tryParse } from '../shared/json.ts';
import type { LargeMedia } from '../shared/large-media.ts';

type Message<Role> = Extract<ChatMessage, { role: Role }>;
type UserMessage = Message<'user'>;
type ToolMessage = Message<'tool'>;
type AssistantMessage = Message<'assistant'>;

type Block = Readonly<Record<string, unknown>>;

interface UserTurn {
  readonly role: 'user';
  readonly results: ToolMessage[];
  readonly messages: UserMessage[];
}

type Turn =
  | UserTurn
  | { readonly role: 'assistant'; readonly messages: AssistantMessage[] }
  | { readonly role: 'system'; readonly texts: string[] };

/** `withThoughts`: those of earlier answers are sent back. Media come in the order in which they are written. */
export const encodeTurns = ({ messages }: ChatCall, withThoughts: boolean, large: LargeMedia) => {
  const { system, turns } = readTurns(messages);
  return {
    ...(system.length > 0 && { system: system.join('\n') }),
    messages: turns.flatMap((turn) => {
      const content = contentOf(turn, withThoughts, large);
      return content.length === 0 ? [] : [{ role: turn.role, content: plainest(content) }];
    }),
  };
};

/** What comes before the conversation is its system prompt; a later system message follows the next user. */
const readTurns = (messages: readonly ChatMessage[]) => {
  const turns: Turn[] = [];
  const system: string[] = [];
  let later: string[] = [];
  const addLater = (): void => {
    if (later.length > 0) turns.push({ role: 'system', texts: later });
    later = [];
  };
  for (const message of messages) {
    const last = turns.at(-1);
    switch (message.role) {
      case 'system':
      case 'developer':
        (last === undefined ? system : later).push(...textsOf(message.content));
        break;
      case 'user':
      case 'tool': {
        const turn: UserTurn = last?.role === 'user' ? last : { role: 'user', results: [], messages: [] };
        if (turn !== last) turns.push(turn);
        if (message.role === 'user') turn.messages.push(message);
        else turn.results.push(message);
        break;
      }
      case 'assistant':
        if (isEmpty(message)) break;
        if (last?.role === 'user') addLater();
        if (last?.role === 'assistant') last.messages.push(message);
        else turns.push({ role: 'assistant', messages: [message] });
    }
  }
  addLater();
  return { system, turns };
};

const isEmpty = ({ content, toolCalls, thoughts }: AssistantMessage): boolean =>
  toolCalls.length === 0 && thoughts === undefined && textsOf(content).length === 0;

const contentOf = (turn: Turn, withThoughts: boolean, large: LargeMedia): readonly Block[] => {
  switch (turn.role) {
    case 'user':
      // Results come first, as the format demands.
      return [
        ...turn.results.map((result) => toolResult(result, large)),
        ...turn.messages.flatMap(({ content }) => content.flatMap((part) => userBlock(part, large))),
      ];
    case 'assistant':
      return turn.messages.flatMap((message) => assistantBlocks(message, withThoughts));
    case 'system':
      return textBlocks(turn.texts.join('\n'));
  }
};

/** A text alone is sent as a string, which every server takes. */
const plainest = (content: readonly Block[]): unknown => {
  const only = content[0];
  return content.length === 1 && only?.type === 'text' ? only.text : content;
};

const textsOf = (content: readonly TextContent[]): readonly string[] =>
  content.flatMap(({ text }) => (text === '' ? [] : [text]));

/** Empty ones are refused. */
const textBlocks = (text: string): readonly Block[] => (text === '' ? [] : [{ type: 'text', text }]);

const userBlock = (part: UserContent, large: LargeMedia): readonly Block[] => {
  if (part.type === 'text') return textBlocks(part.text);
  if (part.type !== 'image')
    throw fail(
      'unsupported_parameter',
      `content of type ${part.type} is not supported by this model's engine`,
    );
  const { mediaType, base64 } = part;
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data: large.setAside(base64) } }];
};

const toolResult = ({ callId, content }: ToolMessage, large: LargeMedia): Block => {
  const blocks = content.flatMap((part) => userBlock(part, large));
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(callId),
    ...(blocks.length > 0 && { content: plainest(blocks) }),
  };
};

/** Thoughts stay where they were between the texts: their signatures hold for the order as well. */
const assistantBlocks = (message: AssistantMessage, withThoughts: boolean): readonly Block[] => {
  const { content, toolCalls, thoughts = [] } = message;
  const blocks: Block[] = [];
  for (let at = 0; at <= content.length; at++) {
    for (const { before, text, signature } of withThoughts ? thoughts : [])
      if (before === at) blocks.push({ type: 'thinking', thinking: text, signature });
    blocks.push(...textBlocks(content[at]?.text ?? ''));
  }
  return [...blocks, ...toolCalls.map(toolUse)];
};

const toolUse = ({ id, name, arguments: words }: ToolCall): Block => ({
  type: 'tool_use',
  id: toolUseId(id),
  name,
  input: toolInput(words),
});

/** The format has objects only; what a model has broken off is wrapped in the one that clients know for it. */
const toolInput = (words: string): unknown => {
  const input = words.trim() === '' ? {} : tryParse(words);
  return isObject(input) ? input : { INVALID_JSON: words };
};

/** Our ids are the engine's with another start; those of other services may have characters that the format refuses. */
const toolUseId = (callId: string): string => {
  if (!/^[\w-]{1,64}$/.test(callId))
    return `toolu_${createHash('sha256').update(callId).digest('hex').slice(0, 32)}`;
  return callId.replace(/^call_(?=.)/, 'toolu_');
};
