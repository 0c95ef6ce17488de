/** A source and the stages that its values pass, named once for all requests, in; what runs for each of them, as one subscription, out. */
import type { Observable, Observer, Subscriber } from 'rxjs';
import { Listener, Source } from '../../src/source.ts';

/** Hears what comes, and tells the next one. What it has said last, an end or an error, it must not say again. */
export interface Stage<In> extends Observer<In> {
  /** The way is over: everything was said, or nobody listens any more. */
  left?(): void;
}

/** A stage that has nothing to say to errors and ends. */
export abstract class PassingStage<In, Out> implements Stage<In> {
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

/** Made for each request, of which it is told, with the one that it tells in turn. */
export type NewStage<Request, In, Out> = (next: Observer<Out>, request: Request) => Stage<In>;

type AnyStage<Request> = NewStage<Request, unknown, unknown>;

/**
 * An answer passes three or four stages. As operators, put together anew for each request, they took 1.4 KB more; with a
 * subscriber of their own each, a sixth more time.
 */
export const relay =
  <Request, Value, Out>(
    source: (request: Request) => Observable<Value>,
    ...stages: [...NewStage<Request, Value, Value>[], NewStage<Request, Value, Out>]
  ): ((request: Request) => Observable<Out>) =>
  (request) =>
    new Relayed(request, source, stages as AnyStage<Request>[]);

class Relayed<Request, Out> extends Source<Out> {
  readonly #request: Request;
  readonly #source: (request: Request) => Observable<unknown>;
  readonly #stages: readonly AnyStage<Request>[];

  constructor(
    request: Request,
    source: (request: Request) => Observable<unknown>,
    stages: readonly AnyStage<Request>[],
  ) {
    super();
    this.#request = request;
    this.#source = source;
    this.#stages = stages;
  }

  override open(subscriber: Subscriber<unknown>): void {
    // Nobody listens any more: nothing is asked for.
    if (subscriber.closed) return;
    const source = this.#source(this.#request);
    let leaving: Stage<unknown>[] | undefined;
    let next: Observer<unknown> = subscriber;
    for (let index = this.#stages.length - 1; index >= 0; index--) {
      const stage = this.#stages[index]?.(next, this.#request);
      if (stage === undefined) continue;
      if (stage.left !== undefined) {
        if (leaving === undefined) leaving = [stage];
        else leaving.push(stage);
      }
      next = stage;
    }
    source.subscribe(new Relay(subscriber, next, leaving));
  }
}

class Relay extends Listener<unknown> {
  readonly #first: Observer<unknown>;
  readonly #leaving: readonly Stage<unknown>[] | undefined;

  constructor(
    receiver: Subscriber<unknown>,
    first: Observer<unknown>,
    leaving: readonly Stage<unknown>[] | undefined,
  ) {
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
    if (this.#leaving !== undefined) for (const stage of this.#leaving) stage.left?.();
  }
}
