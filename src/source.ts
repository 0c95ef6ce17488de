/** What subscribing does, as a method, in; an observable out that is one object: no function is made for each. */
import { Observable, type Subscriber, type TeardownLogic } from 'rxjs';

export abstract class Source<Out> extends Observable<Out> {
  constructor() {
    super(open);
  }

  abstract open(subscriber: Subscriber<Out>): TeardownLogic;
}

/** The library calls it on the observable itself. */
function open(this: Observable<unknown>, subscriber: Subscriber<unknown>): TeardownLogic {
  return this instanceof Source ? this.open(subscriber) : undefined;
}
