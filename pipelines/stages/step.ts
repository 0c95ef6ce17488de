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
  readonly #first: Observable<unknown>;
  /** Shared with those that this one goes on from, as far as `end`. */
  readonly #steps: AnyStep[];
  readonly #end: number;

  constructor(before: Observable<unknown>, last: AnyStep) {
    super(walk);
    if (before instanceof Stepped) {
      this.#first = before.#first;
      const isOwn = before.#steps.length === before.#end;
      this.#steps = isOwn ? before.#steps : before.#steps.slice(0, before.#end);
    } else {
      this.#first = before;
      this.#steps = [];
    }
    this.#end = this.#steps.push(last);
  }

  walk(subscriber: Subscriber<unknown>): Subscription {
    return this.#first.subscribe(new Walk(subscriber, this.#steps, 0, this.#end));
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
  readonly #end: number;
  /** The rest of the way is somebody else's. */
  #left = false;

  constructor(receiver: Subscriber<Out>, steps: readonly AnyStep[], from: number, end: number) {
    super(receiver);
    this.#receiver = receiver;
    this.#steps = steps;
    this.#from = from;
    this.#end = end;
  }

  protected override _next(value: unknown): void {
    let reached = value;
    try {
      for (let at = this.#from; at < this.#end; at++) {
        reached = this.#steps[at]?.(reached);
        if (!(reached instanceof Observable)) continue;
        this.#left = true;
        // What the last step leads to speaks to the receiver itself.
        reached.subscribe(
          at + 1 === this.#end ? this.#receiver : new Walk(this.#receiver, this.#steps, at + 1, this.#end),
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
