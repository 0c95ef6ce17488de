/**
 * Settles ended jobs: charge, webhook, removal of files.
 *
 * Repeated after a crash it changes nothing: the charge and the delivery have ids derived from the job's.
 */
import { lastValueFrom } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { JobView } from '../ports/jobs.ts';
import type { Quotas } from '../ports/quotas.ts';
import type { UsageLog } from '../ports/usage.ts';
import { inputsOf, jobUsage, progressAtEnd } from './job-record.ts';
import type { JobStore, StoredJob } from './store.ts';
import { type Ending, endingOf } from './transitions.ts';

/** Notifies the client's server of an ending: once, however often it is called. */
export type Notify = (view: JobView, ending: Ending) => Promise<void>;

interface SettleParts {
  readonly store: JobStore;
  readonly blobs: Blobs;
  readonly usage: UsageLog;
  readonly quotas: Pick<Quotas, 'settleJob'>;
  readonly notify: Notify;
}

export type Settle = (record: StoredJob) => Promise<StoredJob | undefined>;

/**
 * The order matters: the job has ended for everybody before it is charged, so that a cancelled one never is; and it
 * counts as settled only when the charge and the delivery are durable, so that a crash in between is repaired.
 * Returns the settled record; undefined when it was deleted.
 */
export const createSettle = ({ store, blobs, usage, quotas, notify }: SettleParts): Settle => {
  const follow = async (job: JobRecord, ending: Ending): Promise<void> => {
    if (ending === 'completed') await lastValueFrom(usage.record(jobUsage(job)));
    if (job.claims !== undefined && ending !== 'expired')
      await quotas.settleJob(job.id, job.claims, job.cost ?? '0');
    if (ending === 'expired') for (const { blob } of job.outputs) await blobs.remove(blob);
    else for (const { blob } of inputsOf(job)) await blobs.remove(blob);
    await notify({ job, queuePosition: undefined, progress: progressAtEnd(job) }, ending);
  };

  const settle = async (record: StoredJob, ending: Ending): Promise<StoredJob | undefined> => {
    await follow(record.value, ending);
    const settled = await store.update(record, { ...record.value, settled: true });
    // Another process may have done the same at the same time.
    return settled ?? (await store.get(record.id));
  };

  /** Running in this process: the end of a job and its deletion share one. */
  const running = new Map<string, Promise<StoredJob | undefined>>();

  return async (record) => {
    const ending = endingOf(record.value);
    if (ending === undefined || record.value.settled === true) return record;
    const key = `${record.id}-${ending}`;
    let settling = running.get(key);
    if (settling === undefined) {
      settling = settle(record, ending).finally(() => running.delete(key));
      running.set(key, settling);
    }
    return settling;
  };
};
