/** Applies transitions to stored jobs by compare-and-set: each takes effect once, however many processes try. */
import type { JobOutput, JobRecord, SlotRecord } from '../../schemas/jobs.ts';
import { fail } from '../errors.ts';
import type { Blobs } from '../ports/blobs.ts';
import { outputsOf } from './job-record.ts';
import { deleteSamples } from './sample-store.ts';
import type { Settle } from './settle.ts';
import type { JobStore, StoredJob } from './store.ts';
import {
  cancel,
  complete,
  endingOf,
  type Failure,
  failed,
  type SlotLease,
  start,
  takeOver,
} from './transitions.ts';

export type Outcome = { readonly outputs: readonly JobOutput[] } | { readonly failure: Failure };

export interface TransitionParts {
  readonly store: JobStore;
  readonly now: () => number;
  /** How long outputs are kept. */
  readonly keptMs: number;
}

/** Undefined when it is not pending any more. */
export const startJob = async (
  { store, now }: TransitionParts,
  record: StoredJob,
  lease: SlotLease,
): Promise<StoredJob | undefined> => {
  const next = start(record.value, lease, now());
  return next && store.update(record, next);
};

/** Takes over the job of an abandoned slot; undefined when there is nothing left to do. */
export const resumeJob = async (
  parts: TransitionParts,
  left: Pick<SlotRecord, 'job' | 'released'>,
  lease: SlotLease,
): Promise<StoredJob | undefined> => {
  // Retried while the job refers to the slot: without the slot it would be lost.
  for (;;) {
    const record = await parts.store.get(left.job);
    if (record === undefined) return undefined;
    const next =
      record.value.status === 'pending' // its worker died between taking the slot and starting the job
        ? start(record.value, lease, parts.now())
        : takeOver(record.value, lease, left.released, parts.now());
    if (next === undefined) return undefined;
    const updated = await parts.store.update(record, next);
    if (updated !== undefined) return updated;
  }
};

/** Ends a job once: the store accepts only the first ending. Undefined when the job is another worker's. */
export const endJob = async (
  { store, now, keptMs }: TransitionParts,
  id: string,
  claim: string,
  outcome: Outcome,
): Promise<StoredJob | undefined> => {
  for (;;) {
    const record = await store.get(id);
    const job = record?.value;
    if (record === undefined || job?.worker !== claim || job.status === 'cancelled') return undefined;
    const next =
      'outputs' in outcome
        ? complete(job, claim, outcome.outputs, { now: now(), keptMs })
        : failed(job, claim, outcome.failure, now());
    // It has ended by our own update, then, whose response was lost.
    if (next === undefined) return record;
    const updated = await store.update(record, next);
    if (updated !== undefined) return updated;
  }
};

interface RemoveParts extends Pick<TransitionParts, 'store' | 'now'> {
  readonly settle: Settle;
}

/** Attempts against updates that do not change the status: progress, a takeover. */
const maxAttempts = 20;

/** Returns the cancelled job; the caller settles it. */
export const cancelJob = async ({ store, now }: RemoveParts, record: StoredJob): Promise<StoredJob> => {
  const { status } = record.value;
  let current: StoredJob | undefined = record;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const next = cancel(current.value, now());
    const cancelled = next && (await store.update(current, next));
    if (cancelled !== undefined) return cancelled;
    current = await store.get(record.id);
    if (current === undefined || current.value.status !== status) break;
  }
  throw changed(record.id);
};

/** Deletes an ended job; its charge and its deliveries stay. */
export const deleteJob = async ({ store, settle }: RemoveParts, record: StoredJob): Promise<JobRecord> => {
  const { status } = record.value;
  let current: StoredJob | undefined = record;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    // Not before it is settled: the charge is derived from the record.
    current = await settle(current);
    if (current === undefined) throw fail('not_found', `There is no job ${record.id}`);
    if (current.value.status !== status) break;
    if (current.value.settled === true && (await store.remove(current))) return current.value;
    current = await store.get(record.id);
    if (current === undefined) throw fail('not_found', `There is no job ${record.id}`);
  }
  throw changed(record.id);
};

/** After its record is deleted: files that cannot be removed now expire. */
export const deleteFiles = async (blobs: Blobs, job: JobRecord): Promise<void> => {
  for (const { blob } of job.outputs) await blobs.remove(blob);
  if (job.progressive && job.attempts > 0 && endingOf(job) !== undefined && job.samples_gone !== true)
    await deleteSamples(blobs, job.id, job.attempts, outputsOf(job));
};

/** Not to be retried blindly: a second DELETE would delete what the client meant to cancel. */
const changed = (id: string) =>
  fail('conflict', `${id} changed its state meanwhile: read it again before you retry`, {
    headers: { 'x-should-retry': 'false' },
  });
