/** Starts the job of a render: stores its inputs, then creates it; cleans up on failure. */
import { randomBytes } from 'node:crypto';
import { finalize, from, switchMap } from 'rxjs';
import type { JobClaim } from '../../schemas/jobs.ts';
import { fail } from '../../src/errors.ts';
import { jobCost } from '../../src/jobs/job-record.ts';
import { checkUrl } from '../../src/media/public-address.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { JobView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import type { Step } from '../core/stage.ts';
import { type InputPorts, type KeptBlob, keepInputs } from './keep-inputs.ts';
import type { RenderTask } from './render-task.ts';

type JobPorts = InputPorts & Pick<Ports, 'jobs' | 'usage' | 'engines' | 'quotas'>;

interface Request {
  readonly exchange: Pick<Exchange, 'id' | 'log'>;
  readonly caller: Caller;
}

/** A job is billed when it has rendered, not when it starts: it has no account yet. */
export const startJob =
  (ports: JobPorts): Step<RenderTask, JobView, Request> =>
  (task, { exchange: { id: requestId, log }, caller }) => {
    ports.usage.ensureOpen();
    const { model, call } = task;
    if (ports.engines.of(model).render === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine renders nothing`);
    const id = `${call.type}_${randomBytes(12).toString('hex')}`;
    const kept: KeptBlob[] = [];
    const cost = jobCost(task.billedSeconds, model.pricing);
    const reserved = ports.quotas.reserveJob({ id, caller, cost });
    let creation: Promise<JobView> | undefined;
    const create = (claims: readonly JobClaim[] | undefined) =>
      keepInputs(ports, { id, caller, task, kept }).pipe(
        switchMap((inputs) => {
          const { media: _, startTimeField: __, ...rest } = task;
          const itsCall = call.type === 'video' ? { ...call, inputs } : call;
          creation = ports.jobs.create({ ...rest, id, requestId, caller, call: itsCall, claims });
          return creation;
        }),
      );
    const undo = (): void => {
      removeAll(ports, kept, log);
      reserved
        ?.then(
          (claims) => ports.quotas.settleJob(id, claims, '0'),
          () => undefined, // nothing was reserved
        )
        .catch((error: unknown) => log.warn({ err: error, job: id }, 'reservation of a job not released'));
    };
    return (reserved === undefined ? create(undefined) : from(reserved).pipe(switchMap(create))).pipe(
      // A creation that has begun continues when the client disconnects: its result decides.
      finalize(() => {
        if (creation === undefined) undo();
        else creation.catch(undo);
      }),
    );
  };

const removeAll = (ports: JobPorts, kept: readonly KeptBlob[], log: Exchange['log']): void => {
  for (const { name, written } of kept)
    written
      .catch(() => undefined)
      .then(() => ports.blobs.remove(name))
      .catch((err: unknown) => log.warn({ err, blob: name }, 'job input not removed'));
};

/** What can be checked now; its host name is resolved when it is called. */
export const checkCallback =
  (allowPrivate: boolean) =>
  (task: RenderTask): RenderTask => {
    if (task.callbackUrl === undefined) return task;
    const checked = checkUrl(task.callbackUrl, { allowPrivate, anyPort: true });
    if ('problem' in checked) throw invalid(`callback_url ${checked.problem}`);
    return task;
  };
