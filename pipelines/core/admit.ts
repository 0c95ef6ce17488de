/** A task in; what `run` makes of it out, once there is room. Holds the slot while that runs, however it ends. 429 after waiting its turn. */
import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { Admission, Lease } from '../../src/ports/admission.ts';
import type { Caller, Exchange, KeyedRequest } from '../../src/ports/exchange.ts';
import { Listener, Source } from '../../src/source.ts';
import { type Step, step } from './step.ts';

type OfModel = { readonly model: Model };
type Request = { readonly exchange: Pick<Exchange, 'log'>; readonly caller: Caller };

export const enter =
  <Task extends OfModel, Out>(
    admission: Admission,
    run: (task: Task, lease: Lease, request: KeyedRequest) => Observable<Out>,
  ): Step<Task, Out, KeyedRequest> =>
  (task, request) =>
    new Admitted(ask(admission, task, request.caller), task, request, run);

export const admit = <Task extends OfModel, Out>(
  admission: Admission,
  exchange: Pick<Exchange, 'log'>,
  caller: Caller,
  run: (task: Task, lease: Lease) => Observable<Out>,
): OperatorFunction<Task, Out> =>
  step((task) => new Admitted(ask(admission, task, caller), task, { exchange, caller }, run));

const ask = (admission: Admission, { model }: OfModel, { subscription }: Caller): Lease | Observable<Lease> =>
  admission.admit({
    subscription,
    model: model.id,
    limits: {
      concurrency: model.limits.concurrency,
      requestsPerMinute: model.limits.requests_per_minute,
    },
  });

class Admitted<Task extends OfModel, Of extends Request, Out> extends Source<Out> {
  readonly #lease: Lease | Observable<Lease>;
  readonly #task: Task;
  readonly #request: Of;
  readonly #run: (task: Task, lease: Lease, request: Of) => Observable<Out>;

  constructor(
    lease: Lease | Observable<Lease>,
    task: Task,
    request: Of,
    run: (task: Task, lease: Lease, request: Of) => Observable<Out>,
  ) {
    super();
    this.#lease = lease;
    this.#task = task;
    this.#request = request;
    this.#run = run;
  }

  override open(receiver: Subscriber<Out>): void {
    const lease = this.#lease;
    if (lease instanceof Observable) lease.subscribe(new Entrance(receiver, this));
    else this.hold(lease, receiver);
  }

  hold(lease: Lease, receiver: Subscriber<Out>): void {
    receiver.add(() => lease.release());
    if (lease.position !== undefined) logWait(this.#request.exchange, this.#task.model, lease);
    this.#run(this.#task, lease, this.#request).subscribe(receiver);
  }
}

/** Waits for the lease; then what runs under it speaks to the receiver itself. */
class Entrance<Task extends OfModel, Of extends Request, Out> extends Listener<Lease> {
  readonly #receiver: Subscriber<Out>;
  readonly #admitted: Admitted<Task, Of, Out>;
  #entered = false;

  constructor(receiver: Subscriber<Out>, admitted: Admitted<Task, Of, Out>) {
    super(receiver);
    this.#receiver = receiver;
    this.#admitted = admitted;
  }

  protected override _next(lease: Lease): void {
    this.#entered = true;
    try {
      this.#admitted.hold(lease, this.#receiver);
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
