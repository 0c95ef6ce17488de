/** One job: where it is, whose it is, and ending it. */
import { useState } from 'preact/hooks';
import { adminJson, adminPath } from '../../api/admin.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { dateTime, money } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { toast } from '../../ui/toast.tsx';
import { useInterval } from '../../ui/use-interval.ts';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { SubscriptionLink } from '../keys/subscriptions.tsx';
import { Progress } from './job-list.tsx';
import { type AdminJob, isOpen, jobTones, refreshMs } from './records.ts';

const timeOf = (time: number | null): string => (time === null ? 'not yet' : dateTime(time));

export const JobDetails = ({ id }: { readonly id: string }) => {
  const job = useLoad((signal) => adminJson<AdminJob>(adminPath('jobs', id), { signal }), [id]);
  useInterval(job.reload, job.value !== undefined && isOpen(job.value) ? refreshMs : undefined);
  return <Show of={job}>{(value) => <Details job={value} onChange={job.reload} />}</Show>;
};

const Details = ({ job, onChange }: { readonly job: AdminJob; readonly onChange: () => void }) => {
  const [ending, setEnding] = useState(false);
  const submission = useSubmit();
  const cancel = () =>
    submission.run(async () => {
      await adminJson(adminPath('jobs', job.id, 'cancel'), { method: 'POST' });
      toast('The job is cancelled.');
      onChange();
    });
  return (
    <div class="stack">
      <PageHead
        title={job.type === 'video' ? 'Video' : 'Song'}
        intro={
          <span class="row">
            <Badge tone={jobTones[job.status]}>{job.status}</Badge>
            <code>{job.id}</code>
            <CopyButton text={job.id} name="the id" />
          </span>
        }
        actions={
          <>
            <LinkButton href={linkTo(['jobs'], { tab: job.type })}>All jobs</LinkButton>
            <LinkButton href={linkTo(['jobs'], { tab: 'deliveries', words: job.id })}>
              Its webhooks
            </LinkButton>
            {isOpen(job) && (
              <Button kind="danger" onClick={() => setEnding(true)}>
                Cancel the job
              </Button>
            )}
          </>
        }
      />
      {submission.failure !== undefined && <ErrorNote error={submission.failure} />}
      {job.error !== null && (
        <div class="note bad">
          {job.error} <code>{job.error_code}</code>
        </div>
      )}
      <div class="grid wide">
        <Card title="Progress">
          <Progress of={job} />
          <Facts>
            <Fact name="Created">{timeOf(job.created)}</Fact>
            <Fact name="Started">{timeOf(job.started)}</Fact>
            <Fact name="Ended">{timeOf(job.ended)}</Fact>
            <Fact name="Begun by workers">{job.attempts} times</Fact>
          </Facts>
        </Card>
        <Card title="Request">
          <Facts>
            <Fact name="Model">
              <code>{job.model}</code>
            </Fact>
            <Fact name="Subscription">
              <SubscriptionLink id={job.subscription} />
            </Fact>
            <Fact name="Key">
              <a href={linkTo(['keys', job.key])}>{job.key}</a>
            </Fact>
            <Fact name="Request">
              <code>{job.request_id}</code>
            </Fact>
            <Fact name="Cost">{job.cost === null ? 'nothing was billed' : money(job.cost)}</Fact>
          </Facts>
        </Card>
      </div>
      {ending && (
        <ConfirmDialog
          title="Cancel this job?"
          action="Cancel the job"
          onConfirm={() => void cancel()}
          onClose={() => setEnding(false)}
        >
          Its render ends, and nothing is billed. Its client sees it as cancelled.
        </ConfirmDialog>
      )}
    </div>
  );
};
