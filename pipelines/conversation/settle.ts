/** Checks how an engine ends its response: failures and early ends become errors. */
import { type ApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/engines/chat.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';

/** Parts without failures. */
export type SettledPart = Exclude<Part, { type: 'failure' }>;
export type SettledParts = readonly SettledPart[];

export const settle: Transform<Parts, SettledParts, unknown> = transform((next) => new Settled(next));

class Settled extends Forwarder<Parts, SettledParts> {
  #last: Part['type'] | undefined;

  next(parts: Parts): void {
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      if (part?.type === 'failure') {
        if (index > 0) this.receiver.next(parts.slice(0, index) as SettledParts);
        throw part.error;
      }
    }
    const last = parts[parts.length - 1];
    if (last?.type !== 'usage' || last.soFar !== true) this.#last = last?.type ?? this.#last;
    this.receiver.next(parts as SettledParts);
  }

  override complete(): void {
    if (this.#last !== 'finish' && this.#last !== 'usage') throw endedEarly();
    this.receiver.complete();
  }
}

const endedEarly = (): ApiError => fail('engine_unreachable', 'The model ended its answer early');
