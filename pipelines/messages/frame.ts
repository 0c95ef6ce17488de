/** Metered parts in; the messages format's answer out: one JSON object, or a stream of events when that was asked for. */
import { estimatePrompt } from '../../src/tokens/prompt.ts';
import type { FrameStage } from '../conversation/answering.ts';
import { frameMessagesStream } from './frame-stream.ts';
import { frameMessagesWhole } from './frame-whole.ts';
import type { MessageForm } from './message-json.ts';
import type { MessagesFraming } from './read-request.ts';

export const frameMessages: FrameStage<MessagesFraming> = (next, { exchange, task }) => {
  const { model, call, promptTokens, framing } = task;
  const form: MessageForm = {
    // The request's own id, so that an answer leads to its log lines.
    id: `msg_${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
    model: model.id,
    stop: call.stop,
    hidesThinking: framing.hidesThinking,
    signer: framing.signer,
  };
  return call.stream
    ? frameMessagesStream(next, form, promptTokens ?? estimatePrompt(call))
    : frameMessagesWhole(next, form);
};
