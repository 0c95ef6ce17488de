/** A task in; what `run` makes of it out, once there is room. Holds the slot while that runs, however it ends. 429 after waiting its turn. */
import { Observable, type OperatorFunction, Subscriber } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { Admission, Lease } from '../../src/ports/admission.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import { step } from './step.ts';

export const admit = <Task extends { readonly model: Model }, Out>(
  admission: Admission,
  exchange: Pick<Exchange, 'log'>,
  caller: Caller,
  run: (task: Task, lease: Lease) => Observable<Out>,
): OperatorFunction<Task, Out> =>
  step((task) => {
    const { model } = task;
    const asked = admission.admit({
      subscription: caller.subscription,
      model: model.id,
      limits: {
        concurrency: model.limits.concurrency,
        requestsPerMinute: model.limits.requests_per_minute,
      },
    });
    const start = (lease: Lease): Observable<Out> => {
      if (lease.position !== undefined) logWait(exchange, model, lease);
      return run(task, lease);
    };
    return new Observable<Out>((subscriber) => asked.subscribe(new Entrance(subscriber, start)));
  });

/** Waits for the lease; then what runs under it speaks to the receiver itself. */
class Entrance<Out> extends Subscriber<Lease> {
  readonly #receiver: Subscriber<Out>;
  readonly #start: (lease: Lease) => Observable<Out>;
  #entered = false;

  constructor(receiver: Subscriber<Out>, start: (lease: Lease) => Observable<Out>) {
    super(receiver);
    this.#receiver = receiver;
    this.#start = start;
  }

  protected override _next(lease: Lease): void {
    this.#entered = true;
    this.#receiver.add(() => lease.release());
    try {
      this.#start(lease).subscribe(this.#receiver);
    } catch (thrown) {
      this.#receiver.error(thrown);
    }
  }

  protected override _complete(): void {
    if (this.#entered) this.unsubscribe();
    else super._complete();
  }
}

const logWait = ({ log }: Pick<Exchange, 'log'>, { id }: Model, { waited, position }: Lease): void =>
  log.info({ model: id, waited: Math.round(waited), position }, 'admitted after waiting');
