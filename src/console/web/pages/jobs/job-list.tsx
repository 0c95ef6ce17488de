/** Videos or songs of all subscriptions, with their states and progress. */
import { useState } from 'preact/hooks';
import { here } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Bar } from '../../ui/bar.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { dateTime, duration, money } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useEntries } from '../../ui/use-entries.ts';
import { useInterval } from '../../ui/use-interval.ts';
import { hasWords } from '../../ui/words.ts';
import { SubscriptionFilter, SubscriptionLink } from '../keys/subscriptions.tsx';
import { type AdminJob, isOpen, jobTones, linkToJob, refreshMs, step } from './records.ts';

const lastedMs = ({ started, ended }: AdminJob): number =>
  started === null || ended === null ? 0 : ended - started;

const columns: readonly Column<AdminJob>[] = [
  { title: 'Job', cell: ({ id }) => <a href={linkToJob(id)}>{id}</a> },
  { title: 'Model', sortBy: ({ model }) => model, cell: ({ model }) => <span class="mono">{model}</span> },
  {
    title: 'State',
    sortBy: ({ status }) => status,
    cell: ({ status, error }) => (
      <>
        <Badge tone={jobTones[status]}>{status}</Badge>
        {error !== null && <div class="muted">{error}</div>}
      </>
    ),
  },
  { title: 'Progress', sortBy: ({ progress }) => progress, cell: (job) => <Progress of={job} /> },
  {
    title: 'Subscription',
    sortBy: ({ subscription }) => subscription,
    cell: ({ subscription }) => <SubscriptionLink id={subscription} />,
  },
  { title: 'Created', sortBy: ({ created }) => created, cell: ({ created }) => dateTime(created) },
  {
    title: 'Took',
    number: true,
    sortBy: lastedMs,
    cell: (job) => (lastedMs(job) === 0 ? '–' : duration(lastedMs(job))),
  },
  {
    title: 'Cost',
    number: true,
    sortBy: ({ cost }) => Number(cost ?? 0),
    cell: ({ cost }) => (cost === null ? '–' : money(cost)),
  },
];

export const Progress = ({ of: { id, progress, queue_position, status } }: { readonly of: AdminJob }) => (
  <>
    {queue_position === null ? `${progress} %` : `${queue_position + 1}. in the queue`}
    <Bar label={`Progress of ${id}`} share={progress / 100} tone={jobTones[status]} />
  </>
);

export const JobList = ({ type }: { readonly type: AdminJob['type'] }) => {
  const [words, setWords] = useState('');
  const [status, setStatus] = useState('');
  const subscription = here.value.query.get('subscription') ?? '';
  const jobs = useEntries<AdminJob>('/jobs', { type, subscription }, step);
  // New ones appear, too; less often while nothing runs.
  useInterval(jobs.reload, jobs.value?.entries.some(isOpen) ? refreshMs : 5 * refreshMs);
  const isShown = (job: AdminJob): boolean =>
    (status === '' || job.status === status) &&
    hasWords([job.id, job.model, job.subscription, job.key, job.request_id, job.error ?? ''], words);
  return (
    <div class="stack">
      <div class="grid">
        <TextField
          label="Search"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="id, model, subscription, request …"
        />
        <SelectField
          label="State"
          value={status}
          onChange={setStatus}
          options={[{ value: '', label: 'every state' }, ...Object.keys(jobTones)]}
        />
        <SubscriptionFilter />
      </div>
      <Show of={jobs}>
        {({ entries }) => (
          <Table
            caption={type === 'video' ? 'Videos' : 'Songs'}
            columns={columns}
            rows={entries.filter(isShown)}
            rowKey={({ id }) => id}
            empty={entries.length === 0 ? 'There is no job yet.' : 'No job matches.'}
          />
        )}
      </Show>
      <More of={jobs} what="jobs" />
    </div>
  );
};
