/** A task in; what `run` makes of it out, once there is room. Holds the slot while that runs, however it ends. 429 after waiting its turn. */
import { defer, finalize, type Observable, type OperatorFunction, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { Admission, Lease } from '../../src/ports/admission.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';

export const admit = <Task extends { readonly model: Model }, Out>(
  admission: Admission,
  exchange: Pick<Exchange, 'log'>,
  caller: Caller,
  run: (task: Task, lease: Lease) => Observable<Out>,
): OperatorFunction<Task, Out> =>
  switchMap((task) =>
    admission
      .admit({
        subscription: caller.subscription,
        model: task.model.id,
        limits: {
          concurrency: task.model.limits.concurrency,
          requestsPerMinute: task.model.limits.requests_per_minute,
        },
      })
      .pipe(
        switchMap((lease) => {
          if (lease.position !== undefined) logWait(exchange, task.model, lease);
          return defer(() => run(task, lease)).pipe(finalize(() => lease.release()));
        }),
      ),
  );

const logWait = ({ log }: Pick<Exchange, 'log'>, { id }: Model, { waited, position }: Lease): void =>
  log.info({ model: id, waited: Math.round(waited), position }, 'admitted after waiting');
