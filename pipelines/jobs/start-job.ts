/** Starts the job of a render: stores its inputs, then creates it; cleans up on failure. */
import { randomBytes } from 'node:crypto';
import { finalize, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { checkUrl } from '../../src/media/public-address.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { JobView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import type { Step } from '../core/stage.ts';
import { type InputPorts, type KeptBlob, keepInputs } from './keep-inputs.ts';
import type { RenderTask } from './render-task.ts';

type JobPorts = InputPorts & Pick<Ports, 'jobs' | 'usage' | 'engines'>;

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
    let creation: Promise<JobView> | undefined;
    return keepInputs(ports, { id, caller, task, kept }).pipe(
      switchMap((inputs) => {
        const { media: _, startTimeField: __, ...rest } = task;
        const itsCall = call.type === 'video' ? { ...call, inputs } : call;
        creation = ports.jobs.create({ ...rest, id, requestId, caller, call: itsCall });
        return creation;
      }),
      // A creation that has begun continues when the client disconnects: its result decides.
      finalize(() => {
        if (creation === undefined) removeAll(ports, kept, log);
        else creation.catch(() => removeAll(ports, kept, log));
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
