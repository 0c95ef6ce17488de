/** A checked render in; its inputs kept and its job created out. 400 413 for its media; nothing is left behind where it fails or the client goes. */
import { randomBytes } from 'node:crypto';
import { defer, finalize, type Observable, switchMap } from 'rxjs';
import { fail } from '../../src/errors.ts';
import { checkUrl } from '../../src/media/public-address.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { JobView } from '../../src/ports/jobs.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { type InputPorts, type KeptBlob, keepInputs } from './keep-inputs.ts';
import type { RenderTask } from './render-task.ts';

type JobPorts = InputPorts & Pick<Ports, 'jobs' | 'usage' | 'engines'>;

export const startJob = (
  ports: JobPorts,
  { id: requestId, log }: Pick<Exchange, 'id' | 'log'>,
  caller: Caller,
  task: RenderTask,
): Observable<JobView> =>
  defer(() => {
    ports.usage.ensureOpen();
    const { model, call } = task;
    if (ports.engines.of(model).render === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine renders nothing`);
    const id = `${call.type}_${randomBytes(12).toString('hex')}`;
    const kept: KeptBlob[] = [];
    let creation: Promise<JobView> | undefined;
    return keepInputs(ports, id, task, kept).pipe(
      switchMap((inputs) => {
        const { media: _, startTimeField: __, ...rest } = task;
        const itsCall = call.type === 'video' ? { ...call, inputs } : call;
        creation = ports.jobs.create({ ...rest, id, requestId, caller, call: itsCall });
        return creation;
      }),
      // A creation that is under way goes on when the client leaves: what comes of it decides.
      finalize(() => {
        if (kept.length > 0) void (creation ?? neverCreated()).catch(() => removeAll(ports, kept, log));
      }),
    );
  });

const neverCreated = (): Promise<never> => Promise.reject(new Error('The job was not created'));

const removeAll = (ports: JobPorts, kept: readonly KeptBlob[], log: Exchange['log']): void => {
  for (const { name, written } of kept)
    written
      .then(
        () => ports.blobs.remove(name),
        () => ports.blobs.remove(name),
      )
      .catch((err: unknown) => log.warn({ err, blob: name }, 'an input was not removed'));
};

/** What can be told of it now; a name is looked up when it is called. */
export const checkCallback =
  (allowPrivate: boolean) =>
  (task: RenderTask): RenderTask => {
    if (task.callbackUrl === undefined) return task;
    const checked = checkUrl(task.callbackUrl, { allowPrivate });
    if ('problem' in checked) throw fail('invalid_request', `callback_url ${checked.problem}`);
    return task;
  };
