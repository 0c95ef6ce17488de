/** Metered parts in; the messages format's answer out: one JSON object, or a stream of events when that was asked for. */
import type { OperatorFunction } from 'rxjs';
import type { Parts } from '../../src/ports/chat.ts';
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import { estimatePrompt } from '../../src/tokens/prompt.ts';
import type { ChatTask } from './chat-task.ts';
import { frameMessagesStream } from './frame-messages-stream.ts';
import { frameMessagesWhole } from './frame-messages-whole.ts';
import type { MessageForm } from './messages-answer.ts';
import type { MessagesFraming } from './read-messages-request.ts';

export const frameMessages = (
  exchange: Exchange,
  { model, call, promptTokens, framing }: ChatTask<MessagesFraming>,
): OperatorFunction<Parts, Reply> => {
  const form: MessageForm = {
    // The request's own id, so that an answer leads to its log lines.
    id: `msg_${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
    model: model.id,
    stop: call.stop,
    hidesThinking: framing.hidesThinking,
    signer: framing.signer,
  };
  return call.stream
    ? frameMessagesStream(form, promptTokens ?? estimatePrompt(call))
    : frameMessagesWhole(form);
};
