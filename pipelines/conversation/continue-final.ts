/** Messages in; the same, with a final assistant message made ready to be carried on, out. 400 when it cannot be. */
import type { ChatMessage, TextContent } from '../../src/ports/chat.ts';
import { invalid } from '../core/checks.ts';

export interface Conversation {
  readonly messages: readonly ChatMessage[];
  readonly continued: boolean;
}

/** `asked` is the client's own word for it; a final assistant message implies it. `path` is where that one stands in the request. */
export const continueFinal = (
  messages: readonly ChatMessage[],
  asked: boolean,
  path?: string,
): Conversation => {
  const last = messages.length - 1;
  const final = messages[last];
  if (final?.role !== 'assistant') {
    if (!asked) return { messages, continued: false };
    throw invalid('continue_final_message needs a final message of role assistant');
  }
  const place = path ?? `messages[${last}]`;
  if (final.toolCalls.length > 0)
    throw invalid(`${place}.tool_calls must not be on a final assistant message`);
  const content = trimEnd(final.content);
  if (content.length === 0)
    throw invalid(`${place}.content must have text: a final assistant message is continued`);
  return { messages: [...messages.slice(0, last), { ...final, content }], continued: true };
};

/** Trailing white space goes, and with it parts that hold nothing else. */
const trimEnd = (content: readonly TextContent[]): readonly TextContent[] => {
  for (let end = content.length; end > 0; end--) {
    const text = content[end - 1]?.text.trimEnd() ?? '';
    if (text !== '') return [...content.slice(0, end - 1), { type: 'text', text }];
  }
  return [];
};
