/** Frames a conversation in the messages format: one message, or its events. */
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import { estimatePrompt } from '../../src/tokens/prompt.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledParts } from '../conversation/settle.ts';
import { type Transform, transform } from '../core/stage.ts';
import { MessageEvents, messagesStreamHead } from './frame-stream.ts';
import { MessagesWhole } from './frame-whole.ts';
import type { MessageForm } from './message-json.ts';
import type { MessagesFraming } from './read-request.ts';

interface Request {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: ChatTask<MessagesFraming>;
}

export const frameMessages: Transform<SettledParts, Reply, Request> = transform(
  (next, { exchange, task }) => {
    const { model, call, promptTokens, framing } = task;
    const form: MessageForm = {
      // The request's own id, so that a response leads to its log lines.
      id: `msg_${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
      model: model.id,
      stop: call.stop,
      hidesThinking: framing.hidesThinking,
      signer: framing.signer,
    };
    return call.stream
      ? new StreamFrame(
          next,
          messagesStreamHead,
          new MessageEvents(form, promptTokens ?? estimatePrompt(call)),
        )
      : new MessagesWhole(next, form);
  },
);
