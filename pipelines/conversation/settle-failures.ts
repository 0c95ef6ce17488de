/** An engine's parts in; the same out, with every failure in its place: an error while nothing has come, a last `failure` part afterwards. */
import type { Observer } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';
import type { Stage } from '../core/relay.ts';
import type { PartsStage } from './answering.ts';

export const settleFailures: PartsStage = (next, { exchange }) => {
  const settled = new Settled(next);
  exchange.stream = settled;
  return settled;
};

class Settled implements Stage<Parts> {
  readonly #receiver: Observer<Parts>;
  /** What came last. */
  #last: Part['type'] | undefined;
  #over = false;

  constructor(receiver: Observer<Parts>) {
    this.#receiver = receiver;
  }

  next(parts: Parts): void {
    if (this.#over) return;
    const first = parts[0];
    if (this.#last === undefined && first?.type === 'failure') {
      this.error(first.error);
      return;
    }
    this.#last = parts[parts.length - 1]?.type ?? this.#last;
    this.#receiver.next(parts);
  }

  error(thrown: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const error = asApiError(thrown);
    if (this.#last === undefined) this.#receiver.error(error);
    else {
      this.#receiver.next([{ type: 'failure', error }]);
      this.#receiver.complete();
    }
  }

  complete(): void {
    if (this.#over) return;
    if (this.#last === undefined || !closing.has(this.#last))
      this.error(fail('engine_unreachable', 'The model ended its answer early'));
    else {
      this.#over = true;
      this.#receiver.complete();
    }
  }
}

/** What a whole answer ends with. */
const closing: ReadonlySet<Part['type']> = new Set(['finish', 'usage', 'failure']);
