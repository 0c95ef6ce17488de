/** State transitions of jobs as pure functions; undefined where a transition is not possible. */
import type { JobOutput, JobRecord } from '../../schemas/jobs.ts';
import type { RenderErrorCode } from '../ports/engines/render.ts';
import type { RecordIndex } from '../ports/state.ts';
import { jobCost } from './job-record.ts';

export type Ending = 'completed' | 'failed' | 'cancelled' | 'expired';

export interface Failure {
  readonly code: RenderErrorCode;
  readonly message: string;
}

/** How long samples can be read after the end. */
export const samplesKeptMs = 10 * 60_000;
/** How long the record of an ended job can be read. */
const recordsKeptMs = 30 * 86_400_000;
/** Whoever ended a job settles it at once; after this any process does. */
const settlingMs = 10_000;

export const endingOf = ({ status }: JobRecord): Ending | undefined =>
  status === 'pending' || status === 'in_progress' ? undefined : status;

export const isRenderedBy = (job: JobRecord, claim: string): boolean =>
  job.status === 'in_progress' && job.worker === claim;

/** A leased slot: its id, and the claim of its holder. */
export interface SlotLease {
  readonly id: string;
  readonly claim: string;
}

export const start = (job: JobRecord, lease: SlotLease, now: number): JobRecord | undefined =>
  job.status === 'pending' ? { ...started(job, lease, now), status: 'in_progress', moved: now } : undefined;

/** By the new holder of its slot: its worker died, or released it. */
export const takeOver = (
  job: JobRecord,
  lease: SlotLease,
  released: boolean,
  now: number,
): JobRecord | undefined =>
  job.status === 'in_progress' && job.slot === lease.id
    ? { ...started(job, lease, now), lapses: (job.lapses ?? 0) + (released ? 0 : 1) }
    : undefined;

const started = (job: JobRecord, { id, claim }: SlotLease, now: number): JobRecord => ({
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
        cost: jobCost(job.billed_seconds, job.price),
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

/** Only after it is settled: billed, and its client notified. */
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

type MaintenanceTask = 'settle' | 'delete samples' | 'expire' | 'delete';

/** What an ended job needs next, and when. */
export const maintenanceOf = (
  job: JobRecord,
): { readonly task: MaintenanceTask; readonly due: number } | undefined => {
  if (endingOf(job) === undefined) return undefined;
  if (job.settled !== true) return { task: 'settle', due: (job.moved ?? 0) + settlingMs };
  if (job.progressive && job.attempts > 0 && job.samples_gone !== true)
    return { task: 'delete samples', due: (job.ended ?? 0) + samplesKeptMs };
  if (job.status === 'completed' && job.expires !== null) return { task: 'expire', due: job.expires };
  return { task: 'delete', due: (job.moved ?? 0) + recordsKeptMs };
};

export const maintenanceGroup = 'maintenance';
export const queueOf = (model: string): string => `queue:${model}`;

/** The index of a job in the store: its place in the queue, later its maintenance. A running one is found by its slot. */
export const indexOf = (job: JobRecord): RecordIndex | undefined => {
  if (job.status === 'pending') return { group: queueOf(job.model), due: job.queued ?? job.created };
  const maintenance = maintenanceOf(job);
  return maintenance && { group: maintenanceGroup, due: maintenance.due };
};
