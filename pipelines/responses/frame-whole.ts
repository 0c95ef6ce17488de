/** Frames a conversation as one response object. */
import type { Observer } from 'rxjs';
import type { FinishReason, TokenUsage } from '../../src/ports/chat.ts';
import { jsonTextReply, type Reply, type WholeReply } from '../../src/ports/exchange.ts';
import type { SettledParts } from '../conversation/settle.ts';
import { Forwarder } from '../core/stage.ts';
import { Output, type Piece } from './output.ts';
import { endedResponse, incompleteReason, type ResponseForm } from './response-json.ts';

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
          this.receiver.next(this.#answer(part.usage));
          this.receiver.complete();
          break;
        default:
          this.#add(part);
      }
    }
  }

  #add(piece: Piece): void {
    if (this.#output.begins(piece)) {
      this.#output.end('completed');
      this.#output.begin(piece);
    }
    this.#output.grow(piece);
  }

  #answer(usage: TokenUsage): WholeReply {
    const reason = incompleteReason(this.#finish);
    this.#output.end(reason === undefined ? 'completed' : 'incomplete');
    return jsonTextReply(endedResponse(this.#form, this.#output.json(), reason, usage));
  }
}
