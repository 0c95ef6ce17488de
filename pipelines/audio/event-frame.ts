/** The base of framings as server-sent events: a failure after the first event becomes an event. */
import { asApiError, errorBody } from '../../src/errors.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { Forwarder } from '../core/stage.ts';
import { streamHead } from '../core/stream-head.ts';

export const eventsHead = streamHead(': keep-alive\n\n');

export abstract class EventFrame<Part> extends Forwarder<Part, Reply> {
  /** `type` of the event that a failure becomes. */
  protected abstract readonly failure: string;
  #started = false;

  /** The head goes out before the first event. */
  protected send(event: string): void {
    if (!this.#started) this.receiver.next(eventsHead);
    this.#started = true;
    this.receiver.next({ kind: 'bytes', bytes: event });
  }

  override error(error: unknown): void {
    if (!this.#started) {
      this.receiver.error(error);
      return;
    }
    this.send(sseEvent({ type: this.failure, error: errorBody(asApiError(error)) }));
    this.receiver.complete();
  }
}

/** An event is named after its `type`. */
export const sseEvent = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
