/** What to do with the one value of a source in; an operator out. Steps that follow each other run as one. */
import { Observable, type OperatorFunction, Subscriber, type Subscription } from 'rxjs';

/** From one value to the next, at once or later. */
export type Step<In, Out> = (value: In) => Out | Observable<Out>;

type AnyStep = Step<unknown, unknown>;

/**
 * For sources of one value, where it does what `map` and `switchMap` do. A request takes ten such steps: as operators of
 * the library, each with a subscriber of its own, they cost three times as much.
 */
export const step =
  <In, Out>(next: Step<In, Out>): OperatorFunction<In, Out> =>
  (source) =>
    new Stepped(source, next as AnyStep);

class Stepped<Out> extends Observable<Out> {
  readonly #before: Observable<unknown>;
  readonly #last: AnyStep;

  constructor(before: Observable<unknown>, last: AnyStep) {
    super(walk);
    this.#before = before;
    this.#last = last;
  }

  walk(subscriber: Subscriber<unknown>): Subscription {
    const steps = [this.#last];
    let first: Observable<unknown> = this.#before;
    for (; first instanceof Stepped; first = first.#before) steps.push(first.#last);
    return first.subscribe(new Walk(subscriber, steps.reverse(), 0));
  }
}

/** The library calls it on the observable itself: one function for all of them. */
function walk(this: Observable<unknown>, subscriber: Subscriber<unknown>): Subscription | undefined {
  return this instanceof Stepped ? this.walk(subscriber) : undefined;
}

class Walk<Out> extends Subscriber<unknown> {
  readonly #receiver: Subscriber<Out>;
  readonly #steps: readonly AnyStep[];
  readonly #from: number;
  /** The rest of the way is somebody else's. */
  #left = false;

  constructor(receiver: Subscriber<Out>, steps: readonly AnyStep[], from: number) {
    super(receiver);
    this.#receiver = receiver;
    this.#steps = steps;
    this.#from = from;
  }

  protected override _next(value: unknown): void {
    let reached = value;
    try {
      for (let at = this.#from; at < this.#steps.length; at++) {
        reached = this.#steps[at]?.(reached);
        if (!(reached instanceof Observable)) continue;
        this.#left = true;
        // What the last step leads to speaks to the receiver itself.
        reached.subscribe(
          at + 1 === this.#steps.length ? this.#receiver : new Walk(this.#receiver, this.#steps, at + 1),
        );
        return;
      }
    } catch (thrown) {
      this.error(thrown);
      return;
    }
    this.#receiver.next(reached as Out);
  }

  protected override _complete(): void {
    if (this.#left) this.unsubscribe();
    else super._complete();
  }
}
