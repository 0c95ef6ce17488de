/** One webhook delivery: its attempts, and sending it again. */
import { adminJson, adminPath, adminRecord, ifMatch, type Versioned } from '../../api/admin.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { dateTime, duration } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useInterval } from '../../ui/use-interval.ts';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { SubscriptionLink } from '../keys/subscriptions.tsx';
import { resultOf } from './delivery-list.tsx';
import { type AdminDelivery, deliveryTones, linkToJob, refreshMs } from './records.ts';

type Attempt = AdminDelivery['attempts'][number];

const columns: readonly Column<Attempt>[] = [
  { title: 'Time', cell: ({ time }) => dateTime(time) },
  {
    title: 'Result',
    cell: (attempt) => (
      <Badge tone={attempt.error === null && attempt.status !== null ? 'good' : 'bad'}>
        {resultOf(attempt)}
      </Badge>
    ),
  },
  { title: 'Took', number: true, cell: ({ milliseconds }) => duration(milliseconds) },
];

export const DeliveryDetails = ({ id }: { readonly id: string }) => {
  const delivery = useLoad((signal) => adminRecord<AdminDelivery>(adminPath('deliveries', id), signal), [id]);
  useInterval(delivery.reload, delivery.value?.value.status === 'waiting' ? refreshMs : undefined);
  return <Show of={delivery}>{(record) => <Details of={record} onChange={delivery.reload} />}</Show>;
};

const Details = ({
  of: { value: delivery, etag },
  onChange,
}: {
  readonly of: Versioned<AdminDelivery>;
  readonly onChange: () => void;
}) => {
  const submission = useSubmit();
  const resend = () =>
    submission.run(async () => {
      await adminJson(adminPath('deliveries', delivery.id, 'resend'), {
        method: 'POST',
        headers: ifMatch(etag),
      });
      toast('It is sent again.');
      onChange();
    });
  return (
    <div class="stack">
      <PageHead
        title="Webhook delivery"
        intro={
          <span class="row">
            <Badge tone={deliveryTones[delivery.status]}>{delivery.status}</Badge>
            <code>{delivery.id}</code>
          </span>
        }
        actions={
          <>
            <LinkButton href={linkTo(['jobs'], { tab: 'deliveries' })}>All deliveries</LinkButton>
            <Button kind="primary" onClick={resend} disabled={submission.busy}>
              Send it again
            </Button>
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
      <Card title="Delivery">
        <Facts>
          <Fact name="Event">
            <code>{delivery.type}</code>
          </Fact>
          <Fact name="Receiver">
            <code>{delivery.url}</code>
          </Fact>
          <Fact name="About">
            {/^(video|music)_/.test(delivery.job) ? (
              <a href={linkToJob(delivery.job)}>{delivery.job}</a>
            ) : (
              <code>{delivery.job}</code>
            )}
          </Fact>
          <Fact name="Subscription">
            <SubscriptionLink id={delivery.subscription} />
          </Fact>
          <Fact name="Created">{dateTime(delivery.created)}</Fact>
          <Fact name="Attempts since then or since it was sent again">{delivery.tries}</Fact>
          <Fact name="Next attempt">{delivery.next === null ? 'none' : dateTime(delivery.next)}</Fact>
        </Facts>
      </Card>
      <Card title="Attempts">
        <Table
          caption="Attempts, the newest first"
          columns={columns}
          rows={delivery.attempts.toReversed()}
          rowKey={({ time }) => String(time)}
          empty="There was no attempt yet."
        />
      </Card>
    </div>
  );
};
