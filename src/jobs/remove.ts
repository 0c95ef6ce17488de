/** DELETE of a job: what is still to be rendered is cancelled, what has ended is deleted, and what moves meanwhile is left alone. */
import type { JobRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import { outputsOf } from './call.ts';
import { forgetSamples } from './sample-store.ts';
import type { Settle } from './settle.ts';
import type { JobStore, StoredJob } from './store.ts';
import { cancel, endingOf } from './transitions.ts';

export interface RemoveParts {
  readonly store: JobStore;
  readonly settle: Settle;
  readonly now: () => number;
}

/** Changes that leave the status as it is (how far the render is, a takeover) are worth so many new attempts. */
const mostAttempts = 20;

/** The cancelled job as it is kept; what follows from the end is the caller's to settle. */
export const cancelJob = async ({ store, now }: RemoveParts, record: StoredJob): Promise<StoredJob> => {
  const { status } = record.value;
  let current: StoredJob | undefined = record;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const next = cancel(current.value, now());
    const cancelled = next && (await store.move(current, next));
    if (cancelled !== undefined) return cancelled;
    current = await store.get(record.id);
    if (current === undefined || current.value.status !== status) break;
  }
  throw moved(record.id);
};

/** Nothing of it is there afterwards but what may still be delivered about it, and its charge. */
export const deleteJob = async ({ store, settle }: RemoveParts, record: StoredJob): Promise<JobRecord> => {
  const { status } = record.value;
  let current: StoredJob | undefined = record;
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    // Not before it is settled: the charge is made of the record.
    current = await settle(current);
    if (current === undefined) throw fail('not_found', `There is no job ${record.id}`);
    if (current.value.status !== status) break;
    if (current.value.settled === true && (await store.remove(current))) return current.value;
    current = await store.get(record.id);
    if (current === undefined) throw fail('not_found', `There is no job ${record.id}`);
  }
  throw moved(record.id);
};

/** After the record is gone: what fails here goes when its time is over. */
export const deleteFiles = async (blobs: Blobs, job: JobRecord): Promise<void> => {
  for (const { blob } of job.outputs) await blobs.remove(blob);
  if (job.progressive && job.attempts > 0 && endingOf(job) !== undefined && job.samples_gone !== true)
    await forgetSamples(blobs, job.id, job.attempts, outputsOf(job));
};

/** Clients that repeat a 409 by themselves would delete what they meant to cancel. */
const moved = (id: string) =>
  fail('conflict', `${id} changed its state meanwhile: read it again before you retry`, {
    headers: { 'x-should-retry': 'false' },
  });
