/** Runs the rest of a route under the reservation of what it may use. */
import { Observable, type Subscriber } from 'rxjs';
import type { Quota } from '../../src/ports/quotas.ts';

interface Slot {
  /** Settled by `record` with the usage event. */
  quota: Quota | undefined;
}

/** What is reserved is settled after everything in `run` was torn down: only then it is known whether an event comes. */
export const underQuota = <Out>(
  reserved: Quota | Observable<Quota>,
  slot: Slot,
  run: () => Observable<Out>,
): Observable<Out> =>
  new Observable((subscriber) => {
    const start = (quota: Quota): void => {
      slot.quota = quota;
      try {
        run().subscribe(subscriber);
      } catch (thrown) {
        subscriber.error(thrown);
      }
      subscriber.add(() => quota.end());
    };
    if (reserved instanceof Observable) whenReserved(reserved, subscriber, start);
    else start(reserved);
  });

const whenReserved = (
  reserved: Observable<Quota>,
  subscriber: Subscriber<unknown>,
  start: (quota: Quota) => void,
): void => {
  let taken = false;
  const subscription = reserved.subscribe({
    next: (quota) => {
      if (taken || subscriber.closed) quota.end();
      else {
        taken = true;
        start(quota);
      }
    },
    error: (error: unknown) => {
      if (!taken) subscriber.error(error);
    },
    complete: () => {
      if (!taken) subscriber.complete();
    },
  });
  subscriber.add(subscription);
};
