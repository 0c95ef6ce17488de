/** Metered parts in; the chat dialect's answer out: one JSON object, or a stream of chunks when that was asked for. */
import type { FrameStage } from '../conversation/answering.ts';
import type { Completion } from './completion-json.ts';
import { frameChatStream } from './frame-stream.ts';
import { frameChatWhole } from './frame-whole.ts';
import type { ChatFraming } from './read-request.ts';

export const frameChat: FrameStage<ChatFraming> = (next, { exchange, task }) => {
  const completion: Completion = {
    // The request's own id, so that an answer leads to its log lines.
    id: `chatcmpl-${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
    created: Math.floor(Date.now() / 1000),
    model: task.model.id,
    choices: task.call.n,
    logprobs: task.call.logprobs !== undefined,
    includeUsage: task.framing.includeUsage,
    extra: task.framing.extra,
  };
  return task.call.stream ? frameChatStream(next, completion) : frameChatWhole(next, completion);
};
