/** A completed job in; the usage event it is billed by out: made of the record alone, so that making it again makes the same one. */
import type { JobRecord } from '../../schemas/jobs.ts';
import type { UsageEvent } from '../../schemas/usage-event.ts';

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
