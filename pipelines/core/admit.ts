/** Waits for a slot, then runs the rest of the route under its lease: 429 after waiting its turn. */
import { Observable, switchMap, take, type Unsubscribable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { Admission, Lease, LeaseUsage } from '../../src/ports/admission.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Admitted, Billed, UsageSource } from './account.ts';
import type { Composed } from './compose.ts';
import type { Step } from './stage.ts';

interface OfModel {
  readonly model: Model;
}

/** A step that holds a slot while `inner` runs, however that ends. */
export interface Admit<Task, Out, Request> extends Step<Task, Out, Request> {
  readonly inner: Composed<never, Out, never>;
}

/** What the inner stages require of their context; an admitted request provides the task, the account and the exchange. */
type TaskOf<Context> = Context extends { readonly task: infer Task } ? Task : unknown;
type ExchangeOf<Context> = Context extends { readonly exchange: infer From } ? From : unknown;
interface Request<Context> {
  readonly exchange: ExchangeOf<Context> & Pick<Exchange, 'id' | 'log'> & Partial<Pick<Exchange, 'body'>>;
  readonly caller: Caller;
}
type Fits<Task, Uses, Context> =
  Admitted<Task, Uses, ExchangeOf<Context>> extends Context
    ? unknown
    : 'its context is not that of an admitted request';

export const admit = <Billable extends OfModel, Task, Uses, Out, Context>(
  admission: Admission,
  openAccount: (billed: Billed<Billable>) => Uses,
  inner: Composed<Task, Out, Context> & Fits<TaskOf<Context>, Uses, Context>,
): Admit<Billable & Task & TaskOf<Context>, Out, Request<Context>> => {
  const run = (task: Billable & Task & TaskOf<Context>, request: Request<Context>): Observable<Out> => {
    const { model } = task;
    const hold = (lease: Lease): Observable<Out> =>
      new Observable((subscriber) => {
        const admitted = new Held(request, task, lease);
        subscriber.add(admitted);
        request.exchange.body?.admitted();
        if (lease.position !== undefined) logWait(request.exchange, model, lease);
        admitted.account = openAccount(admitted);
        inner(task, admitted as Context).subscribe(subscriber);
      });
    const lease = admission.admit({
      subscription: request.caller.subscription,
      model: model.id,
      limits: model.limits,
    });
    return lease instanceof Observable ? lease.pipe(take(1), switchMap(hold)) : hold(lease);
  };
  return Object.assign(run, { inner });
};

/** An admitted request: its teardown releases the lease with the tokens that it used. */
class Held<Task, From> implements Admitted<Task, unknown, From>, Unsubscribable {
  readonly exchange: From;
  readonly caller: Caller;
  readonly task: Task;
  readonly lease: Lease;
  account: unknown;

  constructor(request: { readonly exchange: From; readonly caller: Caller }, task: Task, lease: Lease) {
    this.exchange = request.exchange;
    this.caller = request.caller;
    this.task = task;
    this.lease = lease;
    this.account = undefined;
  }

  unsubscribe(): void {
    let used: LeaseUsage | undefined;
    try {
      used = (this.account as Partial<UsageSource> | undefined)?.tokens?.();
    } finally {
      // An account that throws must not cost the slot.
      this.lease.release(used);
    }
  }
}

const logWait = ({ log }: Pick<Exchange, 'log'>, { id }: Model, { waited, position }: Lease): void =>
  log.info({ model: id, waited: Math.round(waited), position }, 'admitted after waiting');
