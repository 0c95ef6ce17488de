/** The two kinds of stages that routes are composed of, and how each becomes an RxJS operator. */

import { mergeMap, Observable, type Observer, type OperatorFunction, Subject, take, takeUntil } from 'rxjs';
import { emitted } from '../../src/helpers/emitted.ts';
import { openLink, type Reporter } from './link.ts';

/** The request that a stage works for. */
export interface RequestContext {
  readonly exchange: Reporter;
}

/** Happens once per request: takes the first value of its source; its result is the next value, now or later. */
export type Step<In, Out, Context = RequestContext> = (value: In, context: Context) => Out | Observable<Out>;

/** Happens to every part of a response. */
export interface Transform<In, Out, Context = RequestContext> {
  /** Called once per request. What the transform emits goes to `next`. */
  open(next: Observer<Out>, context: Context): PartObserver<In>;
}

export type Stage<In, Out, Context = RequestContext> = Step<In, Out, Context> | Transform<In, Out, Context>;

/**
 * A transform at work. It may throw: its source is unsubscribed from, and what it threw is handed to its own `error`.
 * After it was completed or failed it is not called again, except for its teardown.
 */
export interface PartObserver<In> extends Observer<In> {
  /** Called once: everything was emitted, or the client is gone. */
  onTeardown?(): void;
}

/** Passes errors and completion on: most transforms only look at the parts. */
export abstract class Forwarder<In, Out> implements PartObserver<In> {
  protected readonly receiver: Observer<Out>;

  constructor(receiver: Observer<Out>) {
    this.receiver = receiver;
  }

  abstract next(value: In): void;

  error(error: unknown): void {
    this.receiver.error(error);
  }

  complete(): void {
    this.receiver.complete();
  }
}

/** A transform from the function that opens it. */
export const transform = <In, Out, Context = RequestContext>(
  open: Transform<In, Out, Context>['open'],
): Transform<In, Out, Context> => ({ open });

/** A transform from an RxJS operator, for parts that take time. */
export const fromOperator = <In, Out, Context = RequestContext>(
  operator: (context: Context) => OperatorFunction<In, Out>,
): Transform<In, Out, Context> =>
  transform((next, context) => {
    const parts = new Subject<In>();
    const subscription = parts.pipe(operator(context)).subscribe(next);
    return {
      next: (part) => parts.next(part),
      error: (error) => parts.error(error),
      complete: () => parts.complete(),
      onTeardown: () => subscription.unsubscribe(),
    };
  });

/** A stage as an operator for RxJS's `pipe`. `compose` gives the same results with fewer subscriptions. */
export const lift = <In, Out, Context>(
  stage: Stage<In, Out, Context>,
  context: Context & RequestContext,
): OperatorFunction<In, Out> =>
  typeof stage === 'function' ? liftStep(stage, context) : liftTransform(stage, context);

const liftStep =
  <In, Out, Context>(step: Step<In, Out, Context>, context: Context): OperatorFunction<In, Out> =>
  (source) =>
    source.pipe(
      take(1),
      mergeMap((value) => emitted(step(value, context))),
    );

const liftTransform =
  <In, Out, Context>(
    stage: Transform<In, Out, Context>,
    context: Context & RequestContext,
  ): OperatorFunction<In, Out> =>
  (source) =>
    new Observable((subscriber) => {
      const link = openLink(stage, subscriber, context);
      if (link === undefined) return;
      // `takeUntil` ends a synchronous source too, before `subscribe` has returned its subscription.
      const closed = new Subject<void>();
      link.upstream = { unsubscribe: () => closed.next() };
      subscriber.add(link);
      source.pipe(takeUntil(closed)).subscribe(link);
    });
