/** A job and something that happened in; the job as it is then out, or undefined when it cannot happen to it. Pure: the store makes a move count once. */
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import { costOf } from '../billing/cost.ts';
import type { RenderErrorCode } from '../ports/render.ts';
import type { RecordIndex } from '../ports/state.ts';

export type Ending = 'completed' | 'failed' | 'cancelled' | 'expired';

export interface Failure {
  readonly code: RenderErrorCode;
  readonly message: string;
}

/** How long samples can be heard after the end. */
export const samplesKeptMs = 10 * 60_000;
/** How long the record of a job that is over, outputs and all, can still be read. */
export const recordsKeptMs = 30 * 86_400_000;
/** Whoever ended a job settles it at once; past this somebody else does. */
const settlingMs = 10_000;

export const endingOf = ({ status }: JobRecord): Ending | undefined =>
  status === 'pending' || status === 'in_progress' ? undefined : status;

export const isRenderedBy = (job: JobRecord, claim: string): boolean =>
  job.status === 'in_progress' && job.worker === claim;

/** A slot in somebody's hands: its id, and the claim of who holds it. */
export interface Hold {
  readonly id: string;
  readonly claim: string;
}

export const start = (job: JobRecord, hold: Hold, now: number): JobRecord | undefined =>
  job.status === 'pending' ? { ...begun(job, hold, now), status: 'in_progress', moved: now } : undefined;

/** By whoever now holds the slot it is rendered in: its worker died, or gave it up in good order. */
export const takeOver = (
  job: JobRecord,
  hold: Hold,
  released: boolean,
  now: number,
): JobRecord | undefined =>
  job.status === 'in_progress' && job.slot === hold.id
    ? { ...begun(job, hold, now), lapses: (job.lapses ?? 0) + (released ? 0 : 1) }
    : undefined;

const begun = (job: JobRecord, { id, claim }: Hold, now: number): JobRecord => ({
  ...job,
  started: now,
  done: 0,
  attempts: job.attempts + 1,
  worker: claim,
  slot: id,
});

export const advance = (job: JobRecord, claim: string, done: number): JobRecord | undefined =>
  isRenderedBy(job, claim) && done > job.done ? { ...job, done } : undefined;

export const complete = (
  job: JobRecord,
  claim: string,
  outputs: readonly JobOutput[],
  { now, keptMs }: { readonly now: number; readonly keptMs: number },
): JobRecord | undefined =>
  isRenderedBy(job, claim)
    ? {
        ...ended(job, 'completed', now),
        done: 1,
        outputs: [...outputs],
        expires: now + keptMs,
        cost: costOf([[job.billed_seconds, job.price.completion ?? '0']]),
      }
    : undefined;

export const failed = (
  job: JobRecord,
  claim: string,
  { code, message }: Failure,
  now: number,
): JobRecord | undefined =>
  isRenderedBy(job, claim) ? { ...ended(job, 'failed', now), error: message, error_code: code } : undefined;

export const cancel = (job: JobRecord, now: number): JobRecord | undefined =>
  endingOf(job) === undefined ? ended(job, 'cancelled', now) : undefined;

/** Only what has been billed and told of: an end that is not settled yet waits. */
export const expire = (job: JobRecord, now: number): JobRecord | undefined =>
  job.status === 'completed' && job.settled === true && job.expires !== null && job.expires <= now
    ? { ...job, status: 'expired', moved: now, settled: false }
    : undefined;

const ended = (job: JobRecord, status: Ending, now: number): JobRecord => ({
  ...job,
  status,
  ended: now,
  moved: now,
  settled: false,
});

export type Chore = 'settle' | 'forget samples' | 'expire' | 'forget';

/** What is to be done next about an ended job, and when. */
export const choreOf = (job: JobRecord): { readonly chore: Chore; readonly due: number } | undefined => {
  if (endingOf(job) === undefined) return undefined;
  if (job.settled !== true) return { chore: 'settle', due: (job.moved ?? 0) + settlingMs };
  if (job.progressive && job.attempts > 0 && job.samples_gone !== true)
    return { chore: 'forget samples', due: (job.ended ?? 0) + samplesKeptMs };
  if (job.status === 'completed' && job.expires !== null) return { chore: 'expire', due: job.expires };
  return { chore: 'forget', due: (job.moved ?? 0) + recordsKeptMs };
};

export const choresGroup = 'chores';
export const queueOf = (model: string): string => `queue:${model}`;

/** What the store finds a job by: its place in the queue, then the next chore. A render is found by its slot. */
export const indexOf = (job: JobRecord): RecordIndex | undefined => {
  if (job.status === 'pending') return { group: queueOf(job.model), due: job.queued ?? job.created };
  const chore = choreOf(job);
  return chore && { group: choresGroup, due: chore.due };
};
