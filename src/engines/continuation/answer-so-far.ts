/** What a stream has delivered, and the call for what is missing of it. */
import { forkJoin, map, type Observable, of } from 'rxjs';
import type { Model } from '../../../schemas/catalog.ts';
import type { EngineRow } from '../../../schemas/engines.ts';
import type { ChatCall, Parts } from '../../ports/engines/chat.ts';
import type { CompletionCall } from '../../ports/engines/completion.ts';
import type { Flow } from '../../ports/engines/engine.ts';
import { DeliveredText } from '../../tokens/delivered-text.ts';
import type { ContinuationWire, RestOfAnswer, StreamDecoder } from '../wire.ts';
import { SeamFilter } from './seam.ts';

/** The call that is answered. */
export interface Answered<Call> {
  readonly wire: ContinuationWire<Call>;
  readonly row: EngineRow;
  readonly model: Model;
  readonly call: Call;
  readonly flow: Flow;
}

/** `spent`: the completion limit was reached before the stream broke off. */
export type Rest = RestOfAnswer | 'spent' | undefined;

export class AnswerSoFar<Call extends ChatCall | CompletionCall> {
  readonly #of: Answered<Call>;
  readonly #text = new DeliveredText();
  readonly #reasoning = new DeliveredText();
  /** Something was delivered that no message can be continued after. */
  #ended = false;
  #seam: SeamFilter | undefined;

  constructor(answered: Answered<Call>) {
    this.#of = answered;
  }

  /** A stop sequence that began before the seam has ended the answer. */
  get stopped(): boolean {
    return this.#seam?.stopped === true;
  }

  /** What is to be delivered of these parts. */
  pass(parts: Parts): Parts {
    const passed = this.#seam === undefined ? parts : this.#seam.pass(parts);
    for (const part of passed)
      switch (part.type) {
        case 'text':
          this.#text.add(part.text);
          break;
        case 'reasoning':
          if (this.#text.pieces > 0) this.#ended = true;
          this.#reasoning.add(part.text);
          break;
        case 'usage':
          break;
        default:
          this.#ended = true;
      }
    return passed;
  }

  /** False: what was delivered is not to be continued, or too long to be kept. */
  get isPossible(): boolean {
    return !this.#ended && this.#text.isWhole && this.#reasoning.isWhole;
  }

  /** Emits once: the call for the rest, undefined where that would not be right. */
  rest(broken: StreamDecoder): Observable<Rest> {
    const { wire, row, model, call } = this.#of;
    const text = this.#text.read();
    const reasoning = this.#reasoning.read();
    const counts = forkJoin([this.#count(this.#text, text), this.#count(this.#reasoning, reasoning)]);
    return counts.pipe(
      map(([textTokens, reasoningTokens]): Rest => {
        if (textTokens + reasoningTokens >= call.maxTokens) return 'spent';
        const inTags = broken.inTags === true;
        const rest = wire.rest(model, call, row, { text, reasoning, textTokens, reasoningTokens, inTags });
        // Without anything before it, the rest is all of the answer.
        if (rest !== undefined && text + reasoning !== '')
          this.#seam = new SeamFilter({
            delivered: { text, reasoning },
            unsent: rest.unsent,
            stop: call.stop,
          });
        return rest;
      }),
    );
  }

  #count({ pieces, estimate }: DeliveredText, text: string): Observable<number> {
    const { model, flow } = this.#of;
    return flow.tokenCounts?.count(model, { texts: [text], scale: 1, pieces }) ?? of(estimate);
  }
}
