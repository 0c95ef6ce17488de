/**
 * An ended job in; everything that follows from its end done: charge, webhook, clearing up. Done again after a crash it
 * changes nothing: the charge and the delivery have ids made of the job's, and what is removed stays removed.
 */
import { lastValueFrom } from 'rxjs';
import type { JobRecord } from '../../schemas/jobs.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { JobView } from '../ports/jobs.ts';
import type { UsageLog } from '../ports/usage.ts';
import { inputsOf } from './call.ts';
import type { JobStore, StoredJob } from './store.ts';
import { type Ending, endingOf } from './transitions.ts';
import { jobUsage } from './usage.ts';

/** Tells the client's server about an ending; once, however often it is asked to. */
export type Tell = (view: JobView, ending: Ending) => Promise<void>;

export interface SettleParts {
  readonly store: JobStore;
  readonly blobs: Blobs;
  readonly usage: UsageLog;
  readonly tell: Tell;
}

export type Settle = (record: StoredJob) => Promise<StoredJob | undefined>;

/**
 * The order matters: the job has ended for everybody before it is charged, so that a cancelled one never is; and it
 * counts as settled only when the charge is safe and the delivery is kept, so that a crash in between is made good.
 * Gives the settled record; undefined when it is gone.
 */
export const createSettle = ({ store, blobs, usage, tell }: SettleParts): Settle => {
  const follow = async (job: JobRecord, ending: Ending): Promise<void> => {
    if (ending === 'completed') await lastValueFrom(usage.record(jobUsage(job)));
    if (ending === 'expired') for (const { blob } of job.outputs) await blobs.remove(blob);
    else for (const { blob } of inputsOf(job)) await blobs.remove(blob);
    await tell({ job, queuePosition: undefined, progress: progressAtEnd(job) }, ending);
  };

  const settle = async (record: StoredJob, ending: Ending): Promise<StoredJob | undefined> => {
    await follow(record.value, ending);
    const settled = await store.move(record, { ...record.value, settled: true });
    // Another process may have done the same at the same time.
    return settled ?? (await store.get(record.id));
  };

  /** Under way in this process: the one who ended a job and one who deletes it meet here. */
  const underWay = new Map<string, Promise<StoredJob | undefined>>();

  return async (record) => {
    const ending = endingOf(record.value);
    if (ending === undefined || record.value.settled === true) return record;
    const key = `${record.id}-${ending}`;
    let settling = underWay.get(key);
    if (settling === undefined) {
      settling = settle(record, ending).finally(() => underWay.delete(key));
      underWay.set(key, settling);
    }
    return settling;
  };
};

export const progressAtEnd = ({ status, done }: JobRecord): number =>
  status === 'completed' || status === 'expired' ? 100 : Math.floor(done * 100);
