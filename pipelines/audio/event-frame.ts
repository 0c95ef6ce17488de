/** The base of framings as server-sent events: a failure after the first event becomes an event. */
import { type ApiError, errorBody } from '../../src/errors.ts';
import type { Reply } from '../../src/ports/exchange.ts';
import { eventStreamHead } from '../core/frame.ts';
import { Forwarder } from '../core/stage.ts';

export abstract class EventFrame<Part> extends Forwarder<Part, Reply> {
  /** `type` of the event that a failure becomes. */
  protected abstract readonly failure: string;
  #started = false;

  protected send(event: string): void {
    this.#start();
    this.receiver.next({ kind: 'bytes', bytes: event });
  }

  /** The last event of a response that did not fail. */
  protected end(bytes: string): void {
    this.#start();
    this.receiver.next({ kind: 'bytes', bytes, last: true });
    this.receiver.complete();
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const failure = (error: ApiError): string => sseEvent({ type: this.failure, error: errorBody(error) });
    this.receiver.next({ ...eventStreamHead, failure });
  }
}

/** An event is named after its `type`. */
export const sseEvent = (value: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
