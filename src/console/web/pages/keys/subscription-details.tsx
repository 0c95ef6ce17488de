/** One subscription: its status, its limits and its budgets. */
import { useState } from 'preact/hooks';
import { adminJson, adminPath, adminRecord, ifMatch, type Versioned } from '../../api/admin.ts';
import { linkTo } from '../../router.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { dateTime } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { Budgets } from './budgets.tsx';
import { LimitsCard } from './limits-card.tsx';
import { nameOf, type Subscription } from './records.ts';
import { StatusBadge } from './status.tsx';

export const SubscriptionDetails = ({ id }: { readonly id: string }) => {
  const subscription = useLoad(
    (signal) => adminRecord<Subscription>(adminPath('subscriptions', id), signal),
    [id],
  );
  return <Show of={subscription}>{(record) => <Details of={record} onChange={subscription.reload} />}</Show>;
};

const Details = ({
  of: { value: subscription, etag },
  onChange,
}: {
  readonly of: Versioned<Subscription>;
  readonly onChange: () => void;
}) => {
  const [closing, setClosing] = useState(false);
  const submission = useSubmit();
  const { id, status } = subscription;
  const act = (verb: 'suspend' | 'resume' | 'close', done: string) =>
    submission.run(async () => {
      await adminJson(adminPath('subscriptions', id, verb), { method: 'POST', headers: ifMatch(etag) });
      toast(done);
      onChange();
    });
  return (
    <div class="stack">
      <PageHead
        title={nameOf(subscription)}
        intro={
          <span class="row">
            <StatusBadge of={subscription} />
            <code>{id}</code>
            <CopyButton text={id} name="the id" />
            created {dateTime(subscription.created * 1000)}
          </span>
        }
        actions={
          <>
            <LinkButton href={linkTo(['keys'], { tab: 'subscriptions' })}>All subscriptions</LinkButton>
            <LinkButton href={linkTo(['keys'], { subscription: id })}>Its keys</LinkButton>
            {status === 'active' && (
              <Button onClick={() => act('suspend', 'The subscription is suspended.')}>Suspend</Button>
            )}
            {status === 'suspended' && (
              <Button onClick={() => act('resume', 'The subscription works again.')}>Resume</Button>
            )}
            {status !== 'closed' && (
              <Button kind="danger" onClick={() => setClosing(true)}>
                Close
              </Button>
            )}
          </>
        }
      />
      <FailureNote
        of={submission}
        onReload={() => {
          submission.clear();
          onChange();
        }}
      />
      <LimitsCard subscription={id} />
      <Budgets
        title="Budgets of this subscription, its keys and their tags"
        isShown={(budget) => budget.subscription === id}
        preset={{ subscription: id }}
      />
      {closing && (
        <ConfirmDialog
          title={`Close ${nameOf(subscription)}?`}
          action="Close the subscription"
          onConfirm={() => void act('close', 'The subscription is closed.')}
          onClose={() => setClosing(false)}
        >
          All its keys are refused for good. This cannot be undone; to refuse them for a while, suspend it.
        </ConfirmDialog>
      )}
    </div>
  );
};
