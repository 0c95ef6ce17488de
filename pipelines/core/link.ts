/** Runs one transform in a chain: guards it against its own throws and tears it down once. */
import type { Observable, Observer, Subscription, Unsubscribable } from 'rxjs';
import { ApiError } from '../../src/errors.ts';
import type { Exchange } from '../../src/ports/exchange.ts';
import type { PartObserver, RequestContext, Transform } from './stage.ts';

/** What a chain needs of the exchange: a place to report what a stage threw. */
export type Reporter = Pick<Exchange, 'log' | 'failure' | 'served'>;

export class Link<In> implements Observer<In>, Unsubscribable {
  /** What feeds this link; set before anything flows. */
  upstream: Unsubscribable | undefined;
  readonly #transform: PartObserver<In>;
  readonly #receiver: Pick<Observer<never>, 'error'>;
  readonly #exchange: Reporter;
  #stopped = false;
  #closed = false;

  constructor(transform: PartObserver<In>, receiver: Pick<Observer<never>, 'error'>, exchange: Reporter) {
    this.#transform = transform;
    this.#receiver = receiver;
    this.#exchange = exchange;
  }

  next(value: In): void {
    if (this.#stopped) return;
    try {
      this.#transform.next(value);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  error(error: unknown): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#raise(error);
    this.upstream?.unsubscribe();
  }

  complete(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      this.#transform.complete();
    } catch (thrown) {
      this.#fail(thrown);
    }
    this.upstream?.unsubscribe();
  }

  unsubscribe(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopped = true;
    this.upstream?.unsubscribe();
    try {
      this.#transform.onTeardown?.();
    } catch (thrown) {
      this.#exchange.log.error({ err: thrown }, 'teardown threw');
    }
  }

  /** The failure is reported first, so that the teardown of what lies upstream can tell it from a client that left. */
  #fail(thrown: unknown): void {
    this.#stopped = true;
    reportThrow(this.#exchange, thrown);
    this.upstream?.unsubscribe();
    this.#raise(thrown);
  }

  #raise(error: unknown): void {
    try {
      this.#transform.error(error);
    } catch (thrown) {
      reportThrow(this.#exchange, thrown);
      this.#receiver.error(thrown);
    }
  }
}

/** Undefined: the transform threw instead of opening, and its receiver has the error. */
export const openLink = <In, Out, Context>(
  stage: Transform<In, Out, Context>,
  receiver: Observer<Out>,
  context: Context & RequestContext,
): Link<In> | undefined => {
  try {
    return new Link(stage.open(receiver, context), receiver, context.exchange);
  } catch (thrown) {
    reportThrow(context.exchange, thrown);
    receiver.error(thrown);
    return undefined;
  }
};

/** A subscription that can be ended before `subscribe` has returned it. */
export class SourceSubscription implements Unsubscribable {
  #subscription: Subscription | undefined;
  #closed = false;

  connect<T>(source: Observable<T>, observer: Observer<T>): void {
    this.#subscription = source.subscribe(observer);
    if (this.#closed) this.#subscription.unsubscribe();
  }

  unsubscribe(): void {
    this.#closed = true;
    this.#subscription?.unsubscribe();
  }
}

/** Remembers the first failure of a request. Only unexpected ones are logged here: the rest is the client's to read. */
export const reportThrow = (exchange: Reporter, thrown: unknown): void => {
  if (exchange.failure !== undefined) return;
  exchange.failure = thrown;
  if (!(thrown instanceof ApiError)) exchange.log.error({ err: thrown }, 'stage threw');
};
