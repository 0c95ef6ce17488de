/** All subscriptions: searched and created. */
import { useState } from 'preact/hooks';
import { adminJson } from '../../api/admin.ts';
import { goTo } from '../../router.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { dateTime } from '../../ui/format.ts';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import type { LoadedEntries } from '../../ui/use-entries.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { hasWords } from '../../ui/words.ts';
import { linkToSubscription } from './links.ts';
import { nameOf, type Subscription } from './records.ts';
import { StatusBadge } from './status.tsx';

const columns: readonly Column<Subscription>[] = [
  {
    title: 'Subscription',
    sortBy: nameOf,
    cell: (subscription) => <a href={linkToSubscription(subscription.id)}>{nameOf(subscription)}</a>,
  },
  { title: 'Id', sortBy: ({ id }) => id, cell: ({ id }) => <span class="mono">{id}</span> },
  {
    title: 'Status',
    sortBy: ({ status }) => status,
    cell: (subscription) => <StatusBadge of={subscription} />,
  },
  { title: 'Created', sortBy: ({ created }) => created, cell: ({ created }) => dateTime(created * 1000) },
];

export const SubscriptionList = ({ of }: { readonly of: LoadedEntries<Subscription> }) => {
  const [words, setWords] = useState('');
  const [creating, setCreating] = useState(false);
  const entries = of.value?.entries ?? [];
  const shown = entries.filter(({ id, name }) => hasWords([id, name], words));
  return (
    <div class="stack">
      <div class="grid">
        <TextField
          label="Search"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="name or id …"
        />
        <div class="row end">
          <Button kind="primary" onClick={() => setCreating(true)}>
            New subscription
          </Button>
        </div>
      </div>
      <p class="muted" role="status">
        {shown.length} of {entries.length} subscriptions
      </p>
      <Table
        caption="Subscriptions"
        columns={columns}
        rows={shown}
        rowKey={({ id }) => id}
        empty="No subscription matches."
      />
      <More of={of} what="subscriptions" />
      {creating && <CreateSubscription onClose={() => setCreating(false)} />}
    </div>
  );
};

const CreateSubscription = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState('');
  const submission = useSubmit();
  const create = () =>
    submission.run(async () => {
      const { id } = await adminJson<Subscription>('/subscriptions', { method: 'POST', body: { name } });
      toast('The subscription is created.');
      onClose();
      goTo(['keys', 'subscriptions', id]);
    });
  return (
    <FormDialog
      title="New subscription"
      action="Create the subscription"
      submission={submission}
      fields={['name']}
      onSubmit={create}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        hint="For people: a customer, a team, a product."
        problem={submission.problem('name')}
      />
    </FormDialog>
  );
};
