/** The moves of a worker over the store: a job begun, taken over, ended. Each counts once, however many workers try. */
import type { JobOutput, SlotRecord } from '../../schemas/jobs.ts';
import type { JobStore, StoredJob } from './store.ts';
import { complete, type Failure, failed, type Hold, start, takeOver } from './transitions.ts';

export type Outcome = { readonly outputs: readonly JobOutput[] } | { readonly failure: Failure };

export interface MoveParts {
  readonly store: JobStore;
  readonly now: () => number;
  /** How long outputs are kept. */
  readonly keptMs: number;
}

/** Undefined when it is not to be begun any more, or was by another. */
export const beginJob = async (
  { store, now }: MoveParts,
  record: StoredJob,
  hold: Hold,
): Promise<StoredJob | undefined> => {
  const next = start(record.value, hold, now());
  return next && store.move(record, next);
};

/** With the job of a slot that was taken over, however far it came; undefined when there is nothing left to do about it. */
export const goOnWithJob = async (
  parts: MoveParts,
  left: Pick<SlotRecord, 'job' | 'released'>,
  hold: Hold,
): Promise<StoredJob | undefined> => {
  // Not given up while the job is tied to the slot: with the slot it would be lost.
  for (;;) {
    const record = await parts.store.get(left.job);
    if (record === undefined) return undefined;
    const next =
      record.value.status === 'pending' // its worker died between taking the slot and beginning the job
        ? start(record.value, hold, parts.now())
        : takeOver(record.value, hold, left.released, parts.now());
    if (next === undefined) return undefined;
    const moved = await parts.store.move(record, next);
    if (moved !== undefined) return moved;
  }
};

/** One ending, whoever else is about to end it: the store takes only the first. Undefined when it was not ours. */
export const endJob = async (
  { store, now, keptMs }: MoveParts,
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
    // It has ended by our own move, then, whose answer was lost.
    if (next === undefined) return record;
    const moved = await store.move(record, next);
    if (moved !== undefined) return moved;
  }
};
