/** Budgets with what is used, reserved and left. */
import type { AdminBudget } from '../../../../../schemas/admin/budgets.ts';
import { linkTo } from '../../router.ts';
import { Card } from '../../ui/card.tsx';
import { dateTime, money } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { Meter } from '../../ui/meter.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { loadBudgets } from './load.ts';

const targetOf = ({ key, tag, subscription }: AdminBudget, nameOf: (id: string) => string): string => {
  if (key !== undefined) return `key ${nameOf(key)}`;
  const whose = subscription === undefined ? '' : `subscription ${nameOf(subscription)}`;
  if (tag === undefined) return whose;
  return whose === '' ? `tag ${tag}` : `tag ${tag} of ${whose}`;
};

export const Budgets = ({ nameOf }: { readonly nameOf: (id: string) => string }) => {
  const budgets = useLoad(loadBudgets, []);
  const columns: readonly Column<AdminBudget>[] = [
    {
      title: 'For',
      sortBy: (budget) => targetOf(budget, nameOf),
      cell: (budget) => targetOf(budget, nameOf),
    },
    { title: 'Amount', cell: ({ amount, period }) => `${money(amount)} ${per[period]}` },
    {
      title: 'Used',
      sortBy: ({ used, amount }) => Number(used) / Number(amount),
      cell: (budget) => {
        const { used, reserved, amount } = budget;
        const running = reserved === null ? '' : `, ${money(reserved)} reserved`;
        return (
          <div class="stack tight">
            <Meter
              label={`Budget of ${targetOf(budget, nameOf)}`}
              share={Number(used) / Number(amount)}
              reserved={Number(reserved ?? 0) / Number(amount)}
              text={`${money(used)} of ${money(amount)} used`}
            />
            <span class="muted">
              {money(used)} used{running}
            </span>
          </div>
        );
      },
    },
    { title: 'Left', number: true, sortBy: ({ left }) => Number(left), cell: ({ left }) => money(left) },
    { title: 'Resets', cell: ({ resets }) => (resets === null ? 'never' : dateTime(resets * 1000)) },
  ];
  return (
    <Card title="Budgets" actions={<a href={linkTo(['keys'])}>Manage them</a>}>
      <Show of={budgets}>
        {(list) => (
          <Table
            caption="Budgets and what is left"
            columns={columns}
            rows={list}
            rowKey={({ id }) => id}
            empty="There are no budgets."
          />
        )}
      </Show>
    </Card>
  );
};

const per: Readonly<Record<AdminBudget['period'], string>> = {
  day: 'a day',
  week: 'a week',
  month: 'a month',
  total: 'in all',
};
