/** What a stage does with everything that passes through it in; an operator out. Such stages that follow each other share one subscription. */
import { Observable, type Observer, type OperatorFunction, Subscriber, type Subscription } from 'rxjs';

/** Hears what comes, and tells the next one. What it has said last, an end or an error, it must not say again. */
export interface Stage<In> extends Observer<In> {
  /** The way is over: everything was said, or nobody listens any more. */
  left?(): void;
}

type NewStage<In, Out> = (next: Observer<Out>) => Stage<In>;
type AnyStage = NewStage<unknown, unknown>;

/** An answer passes three or four such stages. With a subscriber of their own each, they cost a sixth more time and memory. */
export const relay =
  <In, Out>(newStage: NewStage<In, Out>): OperatorFunction<In, Out> =>
  (source) =>
    new Relayed(source, newStage as AnyStage);

class Relayed<Out> extends Observable<Out> {
  readonly #before: Observable<unknown>;
  readonly #last: AnyStage;

  constructor(before: Observable<unknown>, last: AnyStage) {
    super(connect);
    this.#before = before;
    this.#last = last;
  }

  connect(subscriber: Subscriber<unknown>): Subscription {
    const leaving: Stage<unknown>[] = [];
    let next: Observer<unknown> = subscriber;
    let first: Observable<unknown> = this;
    for (; first instanceof Relayed; first = first.#before) {
      const stage = first.#last(next);
      if (stage.left !== undefined) leaving.push(stage);
      next = stage;
    }
    return first.subscribe(new Relay(subscriber, next, leaving));
  }
}

/** The library calls it on the observable itself: one function for all of them. */
function connect(this: Observable<unknown>, subscriber: Subscriber<unknown>): Subscription | undefined {
  return this instanceof Relayed ? this.connect(subscriber) : undefined;
}

class Relay extends Subscriber<unknown> {
  readonly #first: Observer<unknown>;
  readonly #leaving: readonly Stage<unknown>[];

  constructor(receiver: Subscriber<unknown>, first: Observer<unknown>, leaving: readonly Stage<unknown>[]) {
    super(receiver);
    this.#first = first;
    this.#leaving = leaving;
  }

  protected override _next(value: unknown): void {
    this.#first.next(value);
  }

  protected override _error(error: unknown): void {
    this.#first.error(error);
    this.unsubscribe();
  }

  protected override _complete(): void {
    this.#first.complete();
    this.unsubscribe();
  }

  override unsubscribe(): void {
    if (this.closed) return;
    super.unsubscribe();
    for (const stage of this.#leaving) stage.left?.();
  }
}
