/** Metered parts in; the responses format's answer out: one response object, or its events when a stream was asked for. */
import type { OperatorFunction } from 'rxjs';
import type { Parts } from '../../src/ports/chat.ts';
import type { Exchange, Reply } from '../../src/ports/exchange.ts';
import type { ChatTask } from './chat-task.ts';
import { frameResponsesStream } from './frame-responses-stream.ts';
import { frameResponsesWhole } from './frame-responses-whole.ts';
import type { ResponsesFraming } from './read-responses-request.ts';
import { responseForm } from './responses-answer.ts';

export const frameResponses = (
  exchange: Exchange,
  { call, model, framing }: ChatTask<ResponsesFraming>,
): OperatorFunction<Parts, Reply> => {
  const form = responseForm({
    // The request's own id, so that an answer leads to its log lines.
    key: exchange.id.slice(exchange.id.indexOf('_') + 1),
    model: model.id,
    echo: framing.echo,
    logprobs: call.logprobs !== undefined,
  });
  return call.stream ? frameResponsesStream(form) : frameResponsesWhole(form);
};
