/** Budgets with what is used, reserved and left: made, changed and removed. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { adminJson, adminPath, adminRecord, ifMatch, type Versioned } from '../../api/admin.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Bar } from '../../ui/bar.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { dateTime, money, percent } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useEntries } from '../../ui/use-entries.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { type BudgetTarget, CreateBudget, EditBudget } from './budget-form.tsx';
import { linkToKey } from './links.ts';
import { type AdminBudget, mostRecords } from './records.ts';
import { SubscriptionLink } from './subscriptions.tsx';

const shareOf = ({ used, amount }: AdminBudget): number => Number(used) / Number(amount);

/** As the thresholds of its webhooks. */
const stateOf = (budget: AdminBudget): readonly [Tone, string] => {
  const share = shareOf(budget);
  if (Number(budget.left) <= 0) return ['bad', share >= 1 ? 'used up' : 'all reserved'];
  if (share >= 0.95) return ['bad', 'nearly used up'];
  return share >= 0.8 ? ['warning', 'over 80 %'] : ['good', 'in budget'];
};

const Target = ({ of: { subscription, key, tag } }: { readonly of: AdminBudget }) => (
  <>
    {key !== undefined && <a href={linkToKey(key)}>{key}</a>}
    {tag !== undefined && <Badge>{tag}</Badge>}{' '}
    {subscription !== undefined && (
      <div class={key === undefined && tag === undefined ? '' : 'muted'}>
        <SubscriptionLink id={subscription} />
      </div>
    )}
  </>
);

const nameOf = ({ key, tag, subscription }: AdminBudget): string => key ?? tag ?? subscription ?? '';

const exact = (amount: string) => <span title={`$${amount}`}>{money(amount)}</span>;

const columnsWith = (change: (budget: AdminBudget) => ComponentChildren): readonly Column<AdminBudget>[] => [
  { title: 'For', sortBy: nameOf, cell: (budget) => <Target of={budget} /> },
  {
    title: 'State',
    sortBy: shareOf,
    cell: (budget) => {
      const [tone, words] = stateOf(budget);
      return <Badge tone={tone}>{words}</Badge>;
    },
  },
  {
    title: 'Used',
    number: true,
    sortBy: ({ used }) => Number(used),
    cell: (budget) => (
      <>
        {exact(budget.used)} <span class="muted">({percent(shareOf(budget))})</span>
        <Bar
          label={`Used of the budget of ${nameOf(budget)}`}
          share={shareOf(budget)}
          tone={stateOf(budget)[0]}
        />
      </>
    ),
  },
  {
    title: 'Reserved',
    number: true,
    cell: ({ reserved }) => (reserved === null ? 'not known' : exact(reserved)),
  },
  { title: 'Left', number: true, sortBy: ({ left }) => Number(left), cell: ({ left }) => exact(left) },
  {
    title: 'Amount',
    sortBy: ({ amount }) => Number(amount),
    cell: ({ amount, period, time_zone }) => (
      <>
        {exact(amount)} {period === 'total' ? 'in all' : `a ${period}`}
        {period !== 'total' && <div class="muted">{time_zone}</div>}
      </>
    ),
  },
  { title: 'Resets', cell: ({ resets }) => (resets === null ? 'never' : dateTime(resets * 1000)) },
  { title: 'Change', cell: change },
];

interface Opened {
  readonly action: 'edit' | 'remove';
  readonly record: Versioned<AdminBudget>;
}

export const Budgets = ({
  title,
  isShown = () => true,
  preset = {},
}: {
  readonly title: string;
  readonly isShown?: (budget: AdminBudget) => boolean;
  /** What a new one is for. */
  readonly preset?: BudgetTarget;
}) => {
  const budgets = useEntries<AdminBudget>('/budgets', {}, mostRecords);
  const [creating, setCreating] = useState(false);
  const [opened, setOpened] = useState<Opened>();
  const submission = useSubmit();
  const close = () => setOpened(undefined);
  const reload = () => {
    close();
    setCreating(false);
    submission.clear();
    budgets.reload();
  };
  // The list has no `ETag` of each; a change is made to what is read now.
  const open = (action: Opened['action'], id: string) =>
    submission.run(async () =>
      setOpened({ action, record: await adminRecord<AdminBudget>(adminPath('budgets', id)) }),
    );
  const remove = ({ value: { id }, etag }: Versioned<AdminBudget>) =>
    submission.run(async () => {
      await adminJson(adminPath('budgets', id), { method: 'DELETE', headers: ifMatch(etag) });
      toast('The budget is removed.');
      budgets.reload();
    });
  const saved = (text: string) => () => {
    toast(text);
    reload();
  };
  const columns = columnsWith((budget) => (
    <div class="row nowrap">
      <Button small label={`Edit the budget of ${nameOf(budget)}`} onClick={() => open('edit', budget.id)}>
        Edit
      </Button>
      <Button
        small
        label={`Remove the budget of ${nameOf(budget)}`}
        onClick={() => open('remove', budget.id)}
      >
        Remove
      </Button>
    </div>
  ));
  return (
    <Card
      title={title}
      actions={
        <>
          <Button onClick={budgets.reload} label="Refresh the budgets">
            Refresh
          </Button>
          <Button onClick={() => setCreating(true)}>New budget</Button>
        </>
      }
    >
      <FailureNote of={submission} onReload={reload} />
      <Show of={budgets}>
        {({ entries }) => (
          <Table
            caption={`${title}: used and left`}
            columns={columns}
            rows={entries.filter(isShown)}
            rowKey={({ id }) => id}
            empty="There is no budget: what is spent is not bounded."
          />
        )}
      </Show>
      <More of={budgets} what="budgets" />
      {creating && (
        <CreateBudget
          preset={preset}
          onSaved={saved('The budget is created.')}
          onClose={() => setCreating(false)}
        />
      )}
      {opened?.action === 'edit' && (
        <EditBudget
          of={opened.record}
          onSaved={saved('The budget is saved.')}
          onReload={reload}
          onClose={close}
        />
      )}
      {opened?.action === 'remove' && (
        <ConfirmDialog
          title="Remove the budget?"
          action="Remove the budget"
          onConfirm={() => void remove(opened.record)}
          onClose={close}
        >
          Calls that it is for are bounded by other budgets and limits only.
        </ConfirmDialog>
      )}
    </Card>
  );
};
