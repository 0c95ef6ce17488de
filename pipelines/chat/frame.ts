/** Frames a conversation in the chat dialect: one JSON object, or a stream of chunks. */
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledParts } from '../conversation/settle.ts';
import { type Transform, transform } from '../core/stage.ts';
import type { Completion } from './completion-json.ts';
import { ChatChunks, chatStreamHead } from './frame-stream.ts';
import { ChatWhole } from './frame-whole.ts';
import type { ChatFraming } from './read-request.ts';

interface Request {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: ChatTask<ChatFraming>;
}

export const frameChat: Transform<SettledParts, Reply, Request> = transform((next, { exchange, task }) => {
  const completion: Completion = {
    // The request's own id, so that a response leads to its log lines.
    id: `chatcmpl-${exchange.id.slice(exchange.id.indexOf('_') + 1)}`,
    created: Math.floor(Date.now() / 1000),
    model: task.model.id,
    choices: task.call.n,
    logprobs: task.call.logprobs !== undefined,
    includeUsage: task.framing.includeUsage,
    extra: task.framing.extra,
  };
  return task.call.stream
    ? new StreamFrame(next, chatStreamHead, new ChatChunks(completion))
    : new ChatWhole(next, completion);
});
