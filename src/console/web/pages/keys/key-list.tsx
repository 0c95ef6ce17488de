/** Keys of all subscriptions or of one: searched, filtered, created. */
import { useState } from 'preact/hooks';
import { here } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { dateTime } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useEntries } from '../../ui/use-entries.ts';
import { hasWords } from '../../ui/words.ts';
import { CreateKey } from './key-form.tsx';
import { linkToKey } from './links.ts';
import { type AdminKey, mostRecords, nameOf, type Subscription } from './records.ts';
import { SecretDialog } from './secret-dialog.tsx';
import { StatusBadge, statusOf } from './status.tsx';
import { nameOfSubscription, SubscriptionFilter, SubscriptionLink } from './subscriptions.tsx';

/** What it is restricted to, in short. */
const restrictionsOf = ({ models, routes, networks, limits }: AdminKey): readonly string[] => [
  ...(models === undefined ? [] : [`models: ${models.length}`]),
  ...(routes === undefined ? [] : [`routes: ${routes.length}`]),
  ...(networks === undefined ? [] : [`networks: ${networks.length}`]),
  ...(limits === undefined ? [] : [`limits: ${Object.keys(limits).length}`]),
];

const Badges = ({ words }: { readonly words: readonly string[] }) => (
  <div class="row">
    {words.map((word) => (
      <Badge key={word}>{word}</Badge>
    ))}
  </div>
);

const columns: readonly Column<AdminKey>[] = [
  {
    title: 'Key',
    sortBy: nameOf,
    cell: (key) => (
      <>
        <a href={linkToKey(key.id)}>{nameOf(key)}</a>
        <div class="mono muted">{key.display}</div>
      </>
    ),
  },
  {
    title: 'Subscription',
    sortBy: ({ subscription }) => nameOfSubscription(subscription),
    cell: ({ subscription }) => <SubscriptionLink id={subscription} />,
  },
  { title: 'Status', sortBy: statusOf, cell: (key) => <StatusBadge of={key} /> },
  { title: 'Restricted', cell: (key) => <Badges words={restrictionsOf(key)} /> },
  { title: 'Tags', cell: ({ tags = [] }) => <Badges words={tags} /> },
  {
    title: 'Expires',
    sortBy: ({ expires = Number.POSITIVE_INFINITY }) => expires,
    cell: ({ expires }) => (expires === undefined ? 'never' : dateTime(expires * 1000)),
  },
  {
    title: 'Last used',
    sortBy: ({ last_used }) => last_used ?? 0,
    cell: ({ last_used }) => (last_used === null ? 'never' : dateTime(last_used * 1000)),
  },
];

const statuses = ['active', 'suspended', 'expired', 'closed'];

export const KeyList = ({ subscriptions }: { readonly subscriptions: readonly Subscription[] }) => {
  const subscription = here.value.query.get('subscription') ?? '';
  const [words, setWords] = useState('');
  const [status, setStatus] = useState('');
  const [creating, setCreating] = useState(false);
  const [created, setCreated] = useState<{ readonly key: AdminKey; readonly secret: string }>();
  const keys = useEntries<AdminKey>('/keys', { subscription }, mostRecords);
  const isShown = (key: AdminKey): boolean =>
    (status === '' || statusOf(key) === status) &&
    hasWords(
      [key.id, key.name, key.display, nameOfSubscription(key.subscription), ...(key.tags ?? [])],
      words,
    );
  return (
    <div class="stack">
      <div class="grid">
        <TextField
          label="Search"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="name, id, tag, end of the secret …"
        />
        <SubscriptionFilter />
        <SelectField
          label="Status"
          value={status}
          onChange={setStatus}
          options={[{ value: '', label: 'every status' }, ...statuses]}
        />
        <div class="row end">
          <Button kind="primary" onClick={() => setCreating(true)}>
            New key
          </Button>
        </div>
      </div>
      <Show of={keys}>
        {({ entries }) => {
          const shown = entries.filter(isShown);
          return (
            <>
              <p class="muted" role="status">
                {shown.length} of {entries.length} keys
              </p>
              <Table
                caption="Keys"
                columns={columns}
                rows={shown}
                rowKey={({ id }) => id}
                empty={entries.length === 0 ? 'There is no key yet.' : 'No key matches.'}
              />
            </>
          );
        }}
      </Show>
      <More of={keys} what="keys" />
      {creating && (
        <CreateKey
          subscriptions={subscriptions}
          preset={subscription === '' ? undefined : subscription}
          onCreated={(key, secret) => {
            setCreating(false);
            setCreated({ key, secret });
          }}
          onClose={() => setCreating(false)}
        />
      )}
      {created !== undefined && (
        <SecretDialog
          name={nameOf(created.key)}
          secret={created.secret}
          onClose={() => {
            setCreated(undefined);
            keys.reload();
          }}
        />
      )}
    </div>
  );
};
