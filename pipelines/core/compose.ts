/** Composes the stages of a route into one step that runs them with as few subscriptions as possible. */
import { Observable, type Observer, Subscriber, type Unsubscribable } from 'rxjs';
import { openLink, SourceSubscription } from './link.ts';
import type { RequestContext, Stage, Step, Transform } from './stage.ts';

/** Stages in a row: a step again, so that compositions nest. */
export interface Composed<In, Out, Context> {
  (value: In, context: Context): Observable<Out>;
  /** In the order in which they run. */
  readonly stages: readonly AnyStage[];
}

// biome-ignore lint/suspicious/noExplicitAny: what flows between two stages was checked where they were composed
export type AnyStage = Stage<any, any, any>;

type S<In, Out, Context> = Stage<In, Out, Context>;

/**
 * The same as `of(value).pipe(lift(a), lift(b), …)`, which a property test holds it to. Consecutive steps share a loop
 * and transforms call each other directly. What the stages need of their context, the composition needs.
 */
export function compose<A, B, X1>(a: S<A, B, X1>): Composed<A, B, X1>;
export function compose<A, B, C, X1, X2>(a: S<A, B, X1>, b: S<B, C, X2>): Composed<A, C, X1 & X2>;
export function compose<A, B, C, D, X1, X2, X3>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
): Composed<A, D, X1 & X2 & X3>;
export function compose<A, B, C, D, E, X1, X2, X3, X4>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
): Composed<A, E, X1 & X2 & X3 & X4>;
export function compose<A, B, C, D, E, F, X1, X2, X3, X4, X5>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
  e: S<E, F, X5>,
): Composed<A, F, X1 & X2 & X3 & X4 & X5>;
export function compose<A, B, C, D, E, F, G, X1, X2, X3, X4, X5, X6>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
  e: S<E, F, X5>,
  f: S<F, G, X6>,
): Composed<A, G, X1 & X2 & X3 & X4 & X5 & X6>;
export function compose<A, B, C, D, E, F, G, H, X1, X2, X3, X4, X5, X6, X7>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
  e: S<E, F, X5>,
  f: S<F, G, X6>,
  g: S<G, H, X7>,
): Composed<A, H, X1 & X2 & X3 & X4 & X5 & X6 & X7>;
export function compose<A, B, C, D, E, F, G, H, I, X1, X2, X3, X4, X5, X6, X7, X8>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
  e: S<E, F, X5>,
  f: S<F, G, X6>,
  g: S<G, H, X7>,
  h: S<H, I, X8>,
): Composed<A, I, X1 & X2 & X3 & X4 & X5 & X6 & X7 & X8>;
export function compose<A, B, C, D, E, F, G, H, I, J, X1, X2, X3, X4, X5, X6, X7, X8, X9>(
  a: S<A, B, X1>,
  b: S<B, C, X2>,
  c: S<C, D, X3>,
  d: S<D, E, X4>,
  e: S<E, F, X5>,
  f: S<F, G, X6>,
  g: S<G, H, X7>,
  h: S<H, I, X8>,
  i: S<I, J, X9>,
): Composed<A, J, X1 & X2 & X3 & X4 & X5 & X6 & X7 & X8 & X9>;
export function compose(...stages: AnyStage[]): Composed<unknown, unknown, RequestContext> {
  const segments = segmentsOf(stages);
  const run = (value: unknown, context: RequestContext): Observable<unknown> =>
    new Observable((subscriber) => start(stages, segments, value, context, subscriber));
  return Object.assign(run, { stages });
}

/** Where consecutive steps, or a single transform, begin; the last one first. */
const segmentsOf = (stages: readonly AnyStage[]): readonly number[] =>
  stages
    .map((_, index) => index)
    .filter((at) => typeof stages[at] !== 'function' || typeof stages[at - 1] !== 'function')
    .reverse();

/** Opens everything from the last stage to the first, as subscribing to a pipe does, then feeds the value in. */
const start = (
  stages: readonly AnyStage[],
  segments: readonly number[],
  value: unknown,
  context: RequestContext,
  subscriber: Subscriber<unknown>,
): void => {
  let receiver: Observer<unknown> = subscriber;
  let last: Opened | undefined;
  let downstream: Opened | undefined;
  let to = stages.length;
  for (const from of segments) {
    const stage = stages[from];
    const opened =
      typeof stage === 'function'
        ? new Steps(stages, from, to, context, receiver)
        : openLink(stage as Transform<unknown, unknown>, receiver, context);
    if (opened === undefined) break;
    if (downstream !== undefined) downstream.upstream = opened;
    last ??= opened;
    downstream = opened;
    receiver = opened;
    to = from;
  }
  // Before anything flows: a reader may leave while a synchronous source still emits.
  subscriber.add(last);
  receiver.next(value);
  receiver.complete();
};

interface Opened extends Observer<unknown>, Unsubscribable {
  upstream: Unsubscribable | undefined;
}

/** Consecutive steps: runs until one of them has to be waited for, and goes on from there. */
class Steps implements Opened {
  upstream: Unsubscribable | undefined;
  readonly #stages: readonly AnyStage[];
  readonly #from: number;
  readonly #to: number;
  readonly #context: RequestContext;
  readonly #receiver: Observer<unknown>;
  /** A step that took its time, and the steps after it. */
  #rest: Unsubscribable | undefined;
  /** The first value is here: later ones do not matter. */
  #taken = false;
  /** It was passed on: how the source ends does not matter either. */
  #done = false;

  constructor(
    stages: readonly AnyStage[],
    from: number,
    to: number,
    context: RequestContext,
    receiver: Observer<unknown>,
  ) {
    this.#stages = stages;
    this.#from = from;
    this.#to = to;
    this.#context = context;
    this.#receiver = receiver;
  }

  next(value: unknown): void {
    if (this.#taken) return;
    this.#taken = true;
    this.#run(value);
    this.#done = true;
    this.upstream?.unsubscribe();
  }

  /** Also from within `next`, where the reader of its value makes the source fail. */
  error(error: unknown): void {
    if (this.#done) return;
    this.#done = true;
    this.#taken = true;
    this.#receiver.error(error);
    this.unsubscribe();
  }

  complete(): void {
    if (this.#taken) return;
    this.#taken = true;
    this.#receiver.complete();
    this.upstream?.unsubscribe();
  }

  unsubscribe(): void {
    this.#taken = true;
    this.#done = true;
    this.upstream?.unsubscribe();
    this.#rest?.unsubscribe();
  }

  #run(value: unknown): void {
    const receiver = this.#receiver;
    let result = value;
    try {
      for (let at = this.#from; at < this.#to; at++) {
        result = (this.#stages[at] as Step<unknown, unknown>)(result, this.#context);
        if (result instanceof Observable) {
          this.#wait(result, at + 1);
          return;
        }
      }
    } catch (thrown) {
      receiver.error(thrown);
      return;
    }
    receiver.next(result);
    receiver.complete();
  }

  #wait(result: Observable<unknown>, next: number): void {
    const receiver = this.#receiver;
    // What the last step returns needs no observer in between.
    if (next === this.#to && receiver instanceof Subscriber) {
      result.subscribe(receiver);
      return;
    }
    const subscription = new SourceSubscription();
    if (next === this.#to) {
      this.#rest = subscription;
      subscription.connect(result, receiver);
      return;
    }
    const rest = new Steps(this.#stages, next, this.#to, this.#context, receiver);
    rest.upstream = subscription;
    this.#rest = rest;
    subscription.connect(result, rest);
  }
}
