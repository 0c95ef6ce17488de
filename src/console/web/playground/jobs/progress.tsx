/** The state of a job, with a bar. */
import { useId } from 'preact/hooks';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { money } from '../../ui/format.ts';
import { Facts } from '../parts.tsx';
import type { Job } from './job.ts';

const tones: Readonly<Record<Job['status'], Tone>> = {
  pending: 'neutral',
  in_progress: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warning',
};

export const Progress = ({ job }: { readonly job: Job }) => {
  const id = useId();
  return (
    <div class="stack tight">
      <Facts
        of={{
          Job: <span class="mono">{job.id}</span>,
          State: <Badge tone={tones[job.status]}>{job.status.replace('_', ' ')}</Badge>,
          Queue: job.status === 'pending' && job.queue_position ? String(job.queue_position) : undefined,
          'Billed seconds': job.usage && String(job.usage.billed_seconds),
          Cost: job.usage && money(job.usage.cost),
        }}
      />
      <label for={id}>Progress: {job.progress} %</label>
      <progress id={id} max={100} value={job.progress} />
    </div>
  );
};
