/** An engine's parts in; the same out, with every failure in its place: an error while nothing has come, a last `failure` part afterwards. */
import { type MonoTypeOperatorFunction, Observable, Subscriber } from 'rxjs';
import { asApiError, fail } from '../../src/errors.ts';
import type { Part, Parts } from '../../src/ports/chat.ts';

export const settleFailures = (): MonoTypeOperatorFunction<Parts> => (source) =>
  new Observable((subscriber) => source.subscribe(new Settled(subscriber)));

class Settled extends Subscriber<Parts> {
  readonly #receiver: Subscriber<Parts>;
  /** What came last. */
  #last: Part['type'] | undefined;

  constructor(receiver: Subscriber<Parts>) {
    super(receiver);
    this.#receiver = receiver;
  }

  protected override _next(parts: Parts): void {
    const first = parts[0];
    if (this.#last === undefined && first?.type === 'failure') {
      this.error(first.error);
      return;
    }
    this.#last = parts[parts.length - 1]?.type ?? this.#last;
    this.#receiver.next(parts);
  }

  protected override _error(thrown: unknown): void {
    const error = asApiError(thrown);
    if (this.#last === undefined) super._error(error);
    else {
      this.#receiver.next([{ type: 'failure', error }]);
      super._complete();
    }
  }

  protected override _complete(): void {
    if (this.#last !== undefined && closing.has(this.#last)) super._complete();
    else this._error(fail('engine_unreachable', 'The model ended its answer early'));
  }
}

/** What a whole answer ends with. */
const closing: ReadonlySet<Part['type']> = new Set(['finish', 'usage', 'failure']);
