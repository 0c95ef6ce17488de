/** A call to a chat model in; the parts of its answer out, asked for when somebody listens. */
import type { Subscriber } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { EngineRow } from '../../schemas/engines.ts';
import type { ChatCall, Parts } from '../ports/chat.ts';
import type { Flow } from '../ports/engine.ts';
import { Source } from '../source.ts';
import { type AnswerContext, AnswerReader } from './answer-reader.ts';

/** What all calls to one engine have in common. */
export interface ChatSetting extends AnswerContext {
  readonly row: EngineRow;
  readonly headers: string[];
}

export class ChatAnswer extends Source<Parts> {
  readonly #setting: ChatSetting;
  readonly #model: Model;
  readonly #call: ChatCall;
  readonly #flow: Flow;

  constructor(setting: ChatSetting, model: Model, call: ChatCall, flow: Flow) {
    super();
    this.#setting = setting;
    this.#model = model;
    this.#call = call;
    this.#flow = flow;
  }

  override open(subscriber: Subscriber<Parts>): AnswerReader {
    const { wire, row, headers } = this.#setting;
    const reader = new AnswerReader(this.#setting, this.#model, this.#call, this.#flow, subscriber);
    reader.send({
      method: 'POST',
      path: wire.chatPath,
      headers,
      requestId: this.#flow.requestId,
      body: wire.encodeChat(this.#model, this.#call, row),
      streams: this.#call.stream,
      explain: wire.errorSentence,
    });
    return reader;
  }
}
