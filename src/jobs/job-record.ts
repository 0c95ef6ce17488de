/** Builds the records of jobs, and what is derived from them: views, progress, usage. */
import type { JobRecord } from '../../schemas/jobs.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';
import { costOf } from '../billing/cost.ts';
import type { RenderInput } from '../ports/engines/render.ts';
import type { JobView, NewJob } from '../ports/jobs.ts';
import type { JobStore } from './store.ts';

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
  ...(job.claims === undefined ? {} : { claims: [...job.claims] }),
});

/** US dollars for the seconds that are billed. */
export const jobCost = (billedSeconds: number, price: Readonly<Record<string, string>>): string =>
  costOf([[billedSeconds, price.completion ?? '0']]);

/** Finer than a millisecond, so that jobs of one millisecond keep their order; coarse enough for any store's numbers. */
export const createQueuePlace = (): ((now: number) => number) => {
  const step = 1 / 1024;
  let last = 0;
  return (now) => {
    last = Math.max(now, last + step);
    return last;
  };
};

/** Outputs requested: the songs of a music job; one for a video. The call is stored as any JSON. */
export const outputsOf = ({ call }: JobRecord): number =>
  typeof call === 'object' && call !== null && 'n' in call && typeof call.n === 'number' ? call.n : 1;

export const inputsOf = ({ call }: JobRecord): readonly RenderInput[] =>
  typeof call === 'object' && call !== null && 'inputs' in call && Array.isArray(call.inputs)
    ? call.inputs
    : [];

/** An estimate alone never reports that the end is near. */
const maxEstimate = 95;

/** Adds what is known only now: queue position and progress. */
export const viewOf = async (
  job: JobRecord,
  { store, done, now }: { store: JobStore; done: number | undefined; now: number },
): Promise<JobView> => {
  if (job.status === 'pending') return { job, queuePosition: await store.ahead(job), progress: 0 };
  const progress =
    job.status === 'in_progress'
      ? progressUnderWay(job, Math.max(done ?? 0, job.done), now)
      : progressAtEnd(job);
  return { job, queuePosition: undefined, progress };
};

/** The renderer's own progress, once it has reported any. */
const progressUnderWay = ({ started, expected_ms }: JobRecord, done: number, now: number): number => {
  if (done > 0) return Math.min(99, Math.floor(done * 100));
  const elapsed = (now - (started ?? now)) / Math.max(1, expected_ms);
  return Math.min(maxEstimate, Math.max(0, Math.floor(elapsed * 100)));
};

export const progressAtEnd = ({ status, done }: JobRecord): number =>
  status === 'completed' || status === 'expired' ? 100 : Math.floor(done * 100);

/** The usage event of a completed job: from the record alone, so that a repeated charge has the same id. */
export const jobUsage = (job: JobRecord): UsageEvent => {
  const ended = job.ended ?? job.created;
  const started = job.started ?? ended;
  return {
    schema: 1,
    id: `usage_${job.id}`,
    time: ended,
    request_id: job.request_id,
    subscription: job.subscription,
    key: job.key,
    route: job.type === 'video' ? '/videos' : '/music',
    model: job.model,
    engine: job.engine ?? '',
    outcome: 'completed',
    status: 200,
    quantities: {
      prompt_tokens: 0,
      completion_tokens: 0,
      cached_tokens: 0,
      reasoning_tokens: 0,
      seconds: String(job.billed_seconds),
    },
    generated_tokens: 0,
    delivered_tokens: 0,
    price: job.price,
    cost: job.cost ?? '0',
    queued_ms: Math.max(0, started - job.created),
    first_token_ms: null,
    total_ms: Math.max(0, ended - job.created),
  };
};
