/** Orders the parts of a response: one tool call after the other, uninterrupted. */
import { type ApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';

export const orderParts: Transform<Parts, Parts, unknown> = transform((next) => new Ordered(next));

class Ordered extends Forwarder<Parts, Parts> {
  readonly #order = new PartOrder();

  next(parts: Parts): void {
    const ordered = this.#order.of(parts);
    if (ordered.length > 0) this.receiver.next(ordered);
  }
}

/** Characters held until a call ends; a model that writes more has ended it. */
const mostHeld = 64 * 1024;

class PartOrder {
  /** Tool calls so far. */
  #calls = 0;
  /** The last of them may get more arguments. */
  #calling = false;
  /** What came between its arguments: some servers insert a line break. */
  #held: Part[] = [];
  #heldLength = 0;
  #finished = false;

  of(parts: Parts): Parts {
    if (!this.#calling && !parts.some(isToolCall)) {
      for (const part of parts) this.#check(part);
      return parts;
    }
    const ordered: Part[] = [];
    for (const part of parts) {
      this.#check(part);
      this.#place(part, ordered);
    }
    return ordered;
  }

  #check(part: Part): void {
    if (part.type === 'usage' || part.type === 'failure') return;
    if (part.choice !== 0 || this.#finished) throw outOfOrder();
    switch (part.type) {
      case 'tool-call':
        if (part.call !== this.#calls) throw outOfOrder();
        this.#calls++;
        break;
      case 'tool-arguments':
        if (!this.#calling || part.call !== this.#calls - 1) throw outOfOrder();
        break;
      case 'finish':
        this.#finished = true;
    }
  }

  #place(part: Part, ordered: Part[]): void {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        if (this.#calling) this.#hold(part, ordered);
        else ordered.push(part);
        return;
      case 'tool-arguments':
        ordered.push(part);
        return;
      default:
        this.#release(ordered);
        this.#calling = part.type === 'tool-call';
        ordered.push(part);
    }
  }

  #hold(part: Extract<Part, { type: 'text' | 'reasoning' }>, ordered: Part[]): void {
    this.#held.push(part);
    this.#heldLength += part.text.length;
    if (this.#heldLength > mostHeld) this.#release(ordered);
  }

  #release(ordered: Part[]): void {
    for (const part of this.#held) ordered.push(part);
    this.#held = [];
    this.#heldLength = 0;
    this.#calling = false;
  }
}

const isToolCall = ({ type }: Part): boolean => type === 'tool-call';

const outOfOrder = (): ApiError =>
  fail('engine_unreachable', 'The engine sent its answer in an order that makes no sense');
