/** Single usage events, the newest first, page by page; one of them with all its fields. */
import { useState } from 'preact/hooks';
import type { AdminUsageEvent } from '../../../../../schemas/admin/usage.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { count, dateTime, duration, money } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { cursorOf, type Filters, loadEvents } from './load.ts';
import type { Period } from './period.ts';

const pageSize = 50;

const tones: Readonly<Record<AdminUsageEvent['outcome'], Tone>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'warning',
};

const columnsOf = (
  nameOf: (id: string) => string,
  onChoose: (event: AdminUsageEvent) => void,
): readonly Column<AdminUsageEvent>[] => [
  { title: 'Time', cell: ({ time }) => dateTime(time) },
  {
    title: 'Event',
    cell: (event) => (
      <button type="button" class="link mono" onClick={() => onChoose(event)}>
        {event.request_id}
      </button>
    ),
  },
  { title: 'Model', cell: ({ model }) => <span class="mono">{model}</span> },
  { title: 'Route', cell: ({ route }) => <span class="mono">{route}</span> },
  { title: 'Key', cell: ({ key }) => nameOf(key) },
  { title: 'Outcome', cell: ({ outcome }) => <Badge tone={tones[outcome]}>{outcome}</Badge> },
  { title: 'Prompt', number: true, cell: ({ quantities }) => count(quantities.prompt_tokens) },
  { title: 'Response', number: true, cell: ({ quantities }) => count(quantities.completion_tokens) },
  { title: 'Total', number: true, cell: ({ total_ms }) => duration(total_ms) },
  { title: 'Cost', number: true, cell: ({ cost }) => money(cost) },
];

export const Events = ({
  period,
  filters,
  nameOf,
}: {
  readonly period: Period;
  readonly filters: Filters;
  readonly nameOf: (id: string) => string;
}) => {
  /** Cursors of the pages up to this one. */
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const [chosen, choose] = useState<AdminUsageEvent>();
  const after = cursors.at(-1);
  const events = useLoad(
    (signal) => loadEvents({ ...period, ...filters, limit: pageSize, after }, signal),
    [period.from, period.to, JSON.stringify(filters), after],
  );
  return (
    <Show of={events}>
      {(list) => {
        const next = cursorOf(list);
        return (
          <>
            <Table
              caption="Usage events"
              columns={columnsOf(nameOf, choose)}
              rows={list.data}
              rowKey={({ id }) => id}
              empty="There are no events in this period."
            />
            <div class="row">
              <Button disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
                Newer
              </Button>
              <Button
                disabled={next === undefined}
                onClick={() => next !== undefined && setCursors([...cursors, next])}
              >
                Older
              </Button>
              <span class="muted" role="status">
                Page {cursors.length + 1}, {count(list.data.length)} events
              </span>
            </div>
            {chosen !== undefined && (
              <Dialog title="Usage event" onClose={() => choose(undefined)}>
                <Code text={JSON.stringify(chosen, null, 2)} name="the usage event" />
              </Dialog>
            )}
          </>
        );
      }}
    </Show>
  );
};
