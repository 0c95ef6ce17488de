/** Frames a conversation in the responses format: one response object, or its events. */
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledParts } from '../conversation/settle.ts';
import { type Transform, transform } from '../core/stage.ts';
import { ResponseEvents, responsesStreamHead } from './frame-stream.ts';
import { ResponsesWhole } from './frame-whole.ts';
import type { ResponsesFraming } from './read-request.ts';
import { responseForm } from './response-json.ts';

interface Request {
  readonly exchange: Pick<Exchange, 'id'>;
  readonly task: ChatTask<ResponsesFraming>;
}

export const frameResponses: Transform<SettledParts, Reply, Request> = transform(
  (next, { exchange, task }) => {
    const form = responseForm({
      // The request's own id, so that a response leads to its log lines.
      key: exchange.id.slice(exchange.id.indexOf('_') + 1),
      model: task.model.id,
      echo: task.framing.echo,
      logprobs: task.call.logprobs !== undefined,
    });
    return task.call.stream
      ? new StreamFrame(next, responsesStreamHead, new ResponseEvents(form))
      : new ResponsesWhole(next, form);
  },
);
