/** A stored job in; the same with what is only known now out: its place in the queue, how far it is. */
import type { JobRecord } from '../../schemas/jobs.ts';
import type { JobView } from '../ports/jobs.ts';
import { progressAtEnd } from './settle.ts';
import type { JobStore } from './store.ts';

/** An estimate alone never says that it is about to end. */
const mostEstimated = 95;

export const viewOf = async (
  job: JobRecord,
  { store, done, now }: { store: JobStore; done: number | undefined; now: number },
): Promise<JobView> => {
  if (job.status === 'pending') return { job, queuePosition: await store.ahead(job), progress: 0 };
  const progress =
    job.status === 'in_progress' ? underWay(job, Math.max(done ?? 0, job.done), now) : progressAtEnd(job);
  return { job, queuePosition: undefined, progress };
};

/** What the renderer says, once it has said anything. */
const underWay = ({ started, expected_ms }: JobRecord, done: number, now: number): number => {
  if (done > 0) return Math.min(99, Math.floor(done * 100));
  const share = (now - (started ?? now)) / Math.max(1, expected_ms);
  return Math.min(mostEstimated, Math.max(0, Math.floor(share * 100)));
};
