/** What subscribing does, as a method, in; an observable out that is one object: no functions are made for it. */
import { Observable, type Observer, Subscriber, type Subscription, type TeardownLogic } from 'rxjs';

export abstract class Source<Out> extends Observable<Out> {
  constructor() {
    super(open);
  }

  abstract open(subscriber: Subscriber<Out>): TeardownLogic;

  /** What the library does with a subscriber, without the function that it makes each time. */
  override subscribe(
    observer?: Partial<Observer<Out>> | ((value: Out) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    if (!(observer instanceof Subscriber))
      return typeof observer === 'object' && observer !== null
        ? super.subscribe(observer)
        : super.subscribe(observer, error, complete);
    try {
      observer.add(this.open(observer));
    } catch (thrown) {
      observer.error(thrown);
    }
    return observer;
  }
}

/** The library calls it on the observable itself. */
function open(this: Observable<unknown>, subscriber: Subscriber<unknown>): TeardownLogic {
  return this instanceof Source ? this.open(subscriber) : undefined;
}
