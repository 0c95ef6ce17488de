/** Metered parts in; the chat dialect's answer out: one JSON object, or a stream of chunks when that was asked for. */
import type { OperatorFunction } from 'rxjs';
import type { Parts } from '../../src/ports/chat.ts';
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import type { Completion } from './chat-completion.ts';
import type { ChatTask } from './chat-task.ts';
import { frameChatStream } from './frame-chat-stream.ts';
import { frameChatWhole } from './frame-chat-whole.ts';
import type { ChatFraming } from './read-chat-request.ts';

export const frameChat = (
  exchange: Exchange,
  task: ChatTask<ChatFraming>,
): OperatorFunction<Parts, Reply> => {
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
  return task.call.stream ? frameChatStream(completion) : frameChatWhole(completion);
};
