/** Checks how an engine ends its response: failures and early ends become errors. */
import { type ApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { Breakable, Exchange } from '../../src/ports/exchange.ts';
import { Forwarder, type Transform, transform } from '../core/stage.ts';

/** Parts without failures. */
export type SettledPart = Exclude<Part, { type: 'failure' }>;
export type SettledParts = readonly SettledPart[];

interface Request {
  readonly exchange: Pick<Exchange, 'stream'>;
}

export const settle: Transform<Parts, SettledParts, Request> = transform((next, { exchange }) => {
  const settled = new Settled(next);
  exchange.stream = settled;
  return settled;
});

class Settled extends Forwarder<Parts, SettledParts> implements Breakable {
  #last: Part['type'] | undefined;
  #failed = false;

  next(parts: Parts): void {
    if (this.#failed) return;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index];
      if (part?.type === 'failure') {
        if (index > 0) this.receiver.next(parts.slice(0, index) as SettledParts);
        throw part.error;
      }
    }
    this.#last = parts[parts.length - 1]?.type ?? this.#last;
    this.receiver.next(parts as SettledParts);
  }

  /** From the engine, or from a server that cannot wait for the end of the stream. */
  override error(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.receiver.error(error);
  }

  override complete(): void {
    if (this.#failed) return;
    if (this.#last !== 'finish' && this.#last !== 'usage') throw endedEarly();
    this.receiver.complete();
  }
}

const endedEarly = (): ApiError => fail('engine_unreachable', 'The model ended its answer early');
