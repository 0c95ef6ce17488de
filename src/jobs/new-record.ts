/** A request for a render in; the record of its job out, with its place in the queue of its model. */
import type { JobRecord } from '../../schemas/jobs.ts';
import type { NewJob } from '../ports/jobs.ts';

export const newRecord = (job: NewJob, created: number, queued: number, publicUrl: string): JobRecord => ({
  id: job.id,
  type: job.call.type,
  subscription: job.caller.subscription,
  key: job.caller.key,
  request_id: job.requestId,
  model: job.model.id,
  status: 'pending',
  created,
  started: null,
  ended: null,
  expires: null,
  expected_ms: Math.round(job.expectedMs),
  done: 0,
  call: job.call,
  request: { ...job.request },
  billed_seconds: job.billedSeconds,
  price: { ...job.model.pricing },
  cost: null,
  progressive: job.progressive,
  outputs: [],
  error: null,
  error_code: null,
  callback_url: job.callbackUrl ?? null,
  attempts: 0,
  worker: null,
  queued,
  moved: created,
  engine: job.model.engine,
  public_url: publicUrl,
});

/** Finer than a millisecond, so that jobs of one millisecond keep their order; coarse enough for any store's numbers. */
export const createQueuePlace = (): ((now: number) => number) => {
  const step = 1 / 1024;
  let last = 0;
  return (now) => {
    last = Math.max(now, last + step);
    return last;
  };
};
