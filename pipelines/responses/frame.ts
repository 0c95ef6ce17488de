/** Frames a conversation in the responses format: one response object, or its events. */

import type { Observer } from 'rxjs';
import type { FinishReason, TokenUsage } from '../../src/ports/engines/chat.ts';
import { jsonTextReply, type Reply, type WholeReply } from '../../src/ports/exchange.ts';
import type { ChatTask } from '../conversation/chat-task.ts';
import { StreamFrame } from '../conversation/frame-stream.ts';
import type { SettledParts } from '../conversation/settle.ts';
import { eventStreamHead, type Framing, responseKey } from '../core/frame.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';
import { ResponseEvents } from './frame-stream.ts';
import { type ContentPart, type ItemStatus, Output } from './output.ts';
import type { ResponsesFraming } from './read-request.ts';
import { endedResponse, incompleteReason, type ResponseForm, responseForm } from './response-json.ts';

export const frameResponses: Transform<SettledParts, Reply, Framing<ChatTask<ResponsesFraming>>> = transform(
  (next, { exchange, task }) => {
    const form = responseForm({
      key: responseKey(exchange),
      model: task.model.id,
      echo: task.framing.echo,
      called: task.framing.called,
      logprobs: task.call.logprobs !== undefined,
    });
    return task.call.stream
      ? new StreamFrame(next, eventStreamHead, new ResponseEvents(form))
      : new ResponsesWhole(next, form);
  },
);

export class ResponsesWhole extends Forwarder<SettledParts, Reply> {
  readonly #form: ResponseForm;
  readonly #output: Output;
  #finish: FinishReason = 'stop';

  constructor(receiver: Observer<Reply>, form: ResponseForm) {
    super(receiver);
    this.#form = form;
    this.#output = new Output(form);
  }

  next(parts: SettledParts): void {
    for (const part of parts) {
      switch (part.type) {
        case 'finish':
          this.#finish = part.reason;
          break;
        case 'usage':
          this.receiver.next(this.#reply(part.usage));
          this.receiver.complete();
          break;
        default:
          this.#add(part);
      }
    }
  }

  #add(part: ContentPart): void {
    if (this.#output.begins(part)) {
      this.#end('completed');
      this.#output.begin(part);
    }
    this.#output.grow(part);
  }

  #end(status: ItemStatus): void {
    this.#output.finish();
    this.#output.end(status);
  }

  #reply(usage: TokenUsage): WholeReply {
    const reason = incompleteReason(this.#finish);
    this.#end(reason === undefined ? 'completed' : 'incomplete');
    return jsonTextReply(endedResponse(this.#form, this.#output.json(), reason, usage));
  }
}
