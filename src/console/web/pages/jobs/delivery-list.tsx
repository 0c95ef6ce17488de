/** Webhook deliveries of all subscriptions, the newest first. */
import { useState } from 'preact/hooks';
import { here } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { dateTime } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useEntries } from '../../ui/use-entries.ts';
import { useInterval } from '../../ui/use-interval.ts';
import { hasWords } from '../../ui/words.ts';
import { SubscriptionFilter, SubscriptionLink } from '../keys/subscriptions.tsx';
import { type AdminDelivery, deliveryTones, linkToDelivery, refreshMs, step } from './records.ts';

/** How an attempt ended. */
export const resultOf = ({ status, error }: AdminDelivery['attempts'][number]): string =>
  [status, error].filter((part) => part !== null).join(': ') || 'no response';

const columns: readonly Column<AdminDelivery>[] = [
  { title: 'Delivery', cell: ({ id }) => <a href={linkToDelivery(id)}>{id}</a> },
  { title: 'Event', sortBy: ({ type }) => type, cell: ({ type }) => <span class="mono">{type}</span> },
  // Text, not a link: it comes from clients.
  { title: 'Receiver', sortBy: ({ url }) => url, cell: ({ url }) => <span class="mono">{url}</span> },
  {
    title: 'State',
    sortBy: ({ status }) => status,
    cell: ({ status }) => <Badge tone={deliveryTones[status]}>{status}</Badge>,
  },
  {
    title: 'Last attempt',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last === undefined ? 'none' : resultOf(last);
    },
  },
  {
    title: 'Attempts',
    number: true,
    sortBy: ({ attempts }) => attempts.length,
    cell: ({ attempts }) => attempts.length,
  },
  {
    title: 'Next',
    sortBy: ({ next }) => next ?? 0,
    cell: ({ next }) => (next === null ? '–' : dateTime(next)),
  },
  {
    title: 'Subscription',
    cell: ({ subscription }) => <SubscriptionLink id={subscription} />,
  },
];

export const DeliveryList = () => {
  const [words, setWords] = useState(here.value.query.get('words') ?? '');
  const [status, setStatus] = useState('');
  const subscription = here.value.query.get('subscription') ?? '';
  const deliveries = useEntries<AdminDelivery>('/deliveries', { subscription }, step);
  useInterval(deliveries.reload, 2 * refreshMs);
  const isShown = (delivery: AdminDelivery): boolean =>
    (status === '' || delivery.status === status) &&
    hasWords([delivery.id, delivery.type, delivery.url, delivery.subscription], words);
  return (
    <div class="stack">
      <div class="grid">
        <TextField
          label="Search"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="job, event, receiver …"
        />
        <SelectField
          label="State"
          value={status}
          onChange={setStatus}
          options={[{ value: '', label: 'every state' }, ...Object.keys(deliveryTones)]}
        />
        <SubscriptionFilter />
      </div>
      <Show of={deliveries}>
        {({ entries }) => (
          <Table
            caption="Webhook deliveries"
            columns={columns}
            rows={entries.filter(isShown)}
            rowKey={({ id }) => id}
            empty={entries.length === 0 ? 'Nothing was delivered yet.' : 'No delivery matches.'}
          />
        )}
      </Show>
      <More of={deliveries} what="deliveries" />
    </div>
  );
};
