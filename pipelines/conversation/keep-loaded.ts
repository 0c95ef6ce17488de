/** Gives a conversation that was read again, for a fallback, what was loaded into it the first time. */
import type { ChatMessage } from '../../src/ports/engines/chat.ts';
import type { ChatDraft } from './chat-task.ts';

/** Media is not fetched twice, and a vector store not searched twice. */
export const keepLoaded = <Framing>(
  again: ChatDraft<Framing>,
  first: ChatDraft<Framing>,
  prepared: ChatDraft<Framing>,
): ChatDraft<Framing> =>
  first.pending.length === 0 && prepared.call.messages === first.call.messages
    ? again
    : {
        ...again,
        call: { ...again.call, messages: prepared.call.messages.map(withoutThoughts) },
        pending: [],
        textBytes: undefined,
        framing: prepared.framing,
      };

/** They are signed by the engine of another model. */
const withoutThoughts = (message: ChatMessage): ChatMessage => {
  if (message.role !== 'assistant' || message.thoughts === undefined) return message;
  const { thoughts: _, ...rest } = message;
  return rest;
};
