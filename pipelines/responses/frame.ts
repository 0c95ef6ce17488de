/** Metered parts in; the responses format's answer out: one response object, or its events when a stream was asked for. */
import type { FrameStage } from '../conversation/answering.ts';
import { frameResponsesStream } from './frame-stream.ts';
import { frameResponsesWhole } from './frame-whole.ts';
import type { ResponsesFraming } from './read-request.ts';
import { responseForm } from './response-json.ts';

export const frameResponses: FrameStage<ResponsesFraming> = (next, { exchange, task }) => {
  const form = responseForm({
    // The request's own id, so that an answer leads to its log lines.
    key: exchange.id.slice(exchange.id.indexOf('_') + 1),
    model: task.model.id,
    echo: task.framing.echo,
    logprobs: task.call.logprobs !== undefined,
  });
  return task.call.stream ? frameResponsesStream(next, form) : frameResponsesWhole(next, form);
};
