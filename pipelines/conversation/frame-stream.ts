/** Frames a conversation as server-sent events, failures after the first part included. */
import type { Observer } from 'rxjs';
import type { ApiError } from '../../src/errors.ts';
import type { Head, Reply } from '../../src/ports/exchange.ts';
import { Forwarder } from '../core/stage.ts';
import type { SettledPart, SettledParts } from './settle.ts';

/** The events of one response as text; the last part is its usage. */
export interface EventWriter {
  /** Before the first part. */
  start(): string;
  of(part: SettledPart): string;
  /** Instead of what is missing. */
  fail(error: ApiError): string;
}

export type UsagePart = Extract<SettledPart, { type: 'usage' }>;

/** A field of the last event, after a comma: what the header `x-sluice-attempts` could not say yet. */
export const attemptsJson = ({ attempts }: UsagePart): string =>
  attempts === undefined ? '' : `,"x_sluice_attempts":${attempts}`;

export class StreamFrame extends Forwarder<SettledParts, Reply> {
  readonly #head: Head;
  readonly #events: EventWriter;
  #started = false;

  constructor(receiver: Observer<Reply>, head: Head, events: EventWriter) {
    super(receiver);
    this.#head = head;
    this.#events = events;
  }

  next(parts: SettledParts): void {
    let bytes = '';
    if (!this.#started) {
      bytes = this.#events.start();
      this.#started = true;
      this.receiver.next({ ...this.#head, failure: (error) => this.#events.fail(error) });
    }
    for (const part of parts) bytes += this.#events.of(part);
    if (parts[parts.length - 1]?.type === 'usage') this.receiver.next({ kind: 'bytes', bytes, last: true });
    else if (bytes !== '') this.receiver.next({ kind: 'bytes', bytes });
  }
}
