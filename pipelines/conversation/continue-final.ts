/** Prepares a final assistant message to be continued: 400 when it cannot be. */
import type { ChatMessage, TextContent } from '../../src/ports/engines/chat.ts';
import { invalid } from '../core/checks.ts';

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly continued: boolean;
}

/** `requested` is `continue_final_message`; a final assistant message implies it. `path` is its path in the request. */
export const continueFinal = (
  messages: readonly ChatMessage[],
  requested: boolean,
  path?: string,
): Conversation => {
  const last = messages.length - 1;
  const final = messages[last];
  if (final?.role !== 'assistant') {
    if (!requested) return { messages, continued: false };
    throw invalid('continue_final_message needs a final message of role assistant');
  }
  const field = path ?? `messages[${last}]`;
  if (final.toolCalls.length > 0)
    throw invalid(`${field}.tool_calls must not be on a final assistant message`);
  const content = trimEnd(final.content);
  if (content.length === 0)
    throw invalid(`${field}.content must have text: a final assistant message is continued`);
  return { messages: [...messages.slice(0, last), { ...final, content }], continued: true };
};

/** Removes trailing white space, and parts that hold nothing else. */
const trimEnd = (content: readonly TextContent[]): readonly TextContent[] => {
  for (let end = content.length; end > 0; end--) {
    const text = content[end - 1]?.text.trimEnd() ?? '';
    if (text !== '') return [...content.slice(0, end - 1), { type: 'text', text }];
  }
  return [];
};
