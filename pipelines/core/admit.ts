/** Waits for a slot, then runs the rest of the route under its lease: 429 after waiting its turn. */
import { Observable, switchMap, take, type Unsubscribable } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { PooledCopies } from '../../src/helpers/buffer-pool.ts';
import type { Admission, EarlyLease, Lease, LeaseUsage } from '../../src/ports/admission.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { Quota } from '../../src/ports/quotas.ts';
import { Served } from '../../src/ports/served.ts';
import type { Admitted, Billed, Leased, UsageSource } from './account.ts';
import type { Composed } from './compose.ts';
import type { Step } from './stage.ts';
import { underQuota } from './under-quota.ts';

export interface OfModel {
  readonly model: Model;
}

/** A step that runs a composition of its own. */
export interface Nesting<Task, Out, Request> extends Step<Task, Out, Request> {
  readonly inner: Composed<never, Out, never>;
}

/** What the inner stages require of the exchange and the task. */
export type ExchangeOf<Context> = Context extends { readonly exchange: infer From } ? From : unknown;
type TaskOf<Context> = Context extends { readonly task: infer Task } ? Task : unknown;

export interface Request<Context> {
  readonly exchange: ExchangeOf<Context> &
    Pick<Exchange, 'id' | 'log' | 'served' | 'queuedFor'> &
    Partial<Pick<Exchange, 'body'>>;
  readonly caller: Caller;
  readonly early?: EarlyLease;
}

type Slot<Context> = Leased<ExchangeOf<Context> & Pick<Exchange, 'id'>>;

export type Fits<Given, Context> = Given extends Context
  ? unknown
  : 'its context is not that of an admitted request';

/**
 * Holds a slot while `inner` runs, however that ends. Everything that costs more than reading the fields of a request
 * belongs into `inner`: what is refused by admission must have cost nothing.
 */
export const admit = <Draft extends OfModel, Out, Context>(
  admission: Admission,
  inner: Composed<Draft, Out, Context> & Fits<Leased<ExchangeOf<Context>>, Context>,
): Nesting<Draft, Out, Request<Context>> => {
  const run = (draft: Draft, request: Request<Context>): Observable<Out> => {
    const { model } = draft;
    const hold = (lease: Lease): Observable<Out> =>
      new Observable((subscriber) => {
        const slot = new Holder(request, lease);
        subscriber.add(slot);
        request.exchange.body?.admitted();
        request.exchange.served = new Served(request.caller, model.id, lease, slot);
        if (lease.position !== undefined) logWait(request.exchange, model, lease);
        inner(draft, slot as Context).subscribe(subscriber);
      });
    const lease =
      request.early?.claim(model.id) ??
      admission.admit({
        subscription: request.caller.subscription,
        model: model.id,
        limits: model.limits,
      });
    if (!(lease instanceof Observable)) return hold(lease);
    request.exchange.queuedFor = model.id;
    return lease.pipe(take(1), switchMap(hold));
  };
  return Object.assign(run, { inner });
};

/**
 * Opens the account of an admitted request once its task is known in full, reserves the most that it can use, then runs
 * `inner`. What fails before this step, or is refused by it, leaves no usage event.
 */
export const withAccount = <Billable extends OfModel, Task, Uses, Out, Context>(
  { quotas }: Pick<Ports, 'quotas'>,
  openAccount: (billed: Billed<Billable>) => Uses,
  inner: Composed<Task, Out, Context> & Fits<Admitted<TaskOf<Context>, Uses, ExchangeOf<Context>>, Context>,
): Nesting<Billable & Task & TaskOf<Context>, Out, Slot<Context>> => {
  const run = (task: Billable & Task & TaskOf<Context>, slot: Slot<Context>): Observable<Out> => {
    slot.task = task;
    slot.account = openAccount(slot as Billed<Billable>);
    // 429 when it could exceed a limit or a budget.
    const quota = quotas.reserve(slot);
    if (quota === undefined) return inner(task, slot as Context);
    return underQuota(quota, slot, () => inner(task, slot as Context));
  };
  return Object.assign(run, { inner });
};

/** An admitted request: its teardown releases the lease, with the tokens that it used, and pooled buffers. */
class Holder<From> implements Leased<From>, Unsubscribable {
  readonly exchange: From;
  readonly caller: Caller;
  readonly lease: Lease;
  task: unknown = undefined;
  account: unknown = undefined;
  quota: Quota | undefined = undefined;
  copies: PooledCopies | undefined = undefined;

  constructor(request: { readonly exchange: From; readonly caller: Caller }, lease: Lease) {
    this.exchange = request.exchange;
    this.caller = request.caller;
    this.lease = lease;
  }

  unsubscribe(): void {
    let used: LeaseUsage | undefined;
    try {
      used = (this.account as Partial<UsageSource> | undefined)?.tokens?.();
    } finally {
      // An account that throws must not cost the slot.
      this.lease.release(used);
      this.copies?.release();
    }
  }
}

const logWait = ({ log }: Pick<Exchange, 'log'>, { id }: Model, { waited, position }: Lease): void =>
  log.info({ model: id, waited: Math.round(waited), position }, 'admitted after waiting');
