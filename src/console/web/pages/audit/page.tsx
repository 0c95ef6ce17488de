/** The audit log: who changed what, and when. */
import { useState } from 'preact/hooks';
import { here } from '../../router.ts';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { dateTime } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { More } from '../../ui/more.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useEntries } from '../../ui/use-entries.ts';
import { hasWords } from '../../ui/words.ts';
import { SubscriptionFilter, SubscriptionLink } from '../keys/subscriptions.tsx';
import { type AuditEntry, summaryOf } from './changes.ts';
import { EntryDialog } from './entry-dialog.tsx';
import { Target } from './target.tsx';

const step = 100;
const longestSummary = 160;

const shortened = (text: string): string =>
  text.length > longestSummary ? `${text.slice(0, longestSummary)} …` : text;

const columnsWith = (open: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] => [
  { title: 'Time', sortBy: ({ time }) => time, cell: ({ time }) => dateTime(time) },
  { title: 'Who', sortBy: ({ who }) => who, cell: ({ who }) => who },
  {
    title: 'Action',
    sortBy: ({ action }) => action,
    cell: ({ action }) => <span class="mono">{action}</span>,
  },
  { title: 'Target', sortBy: ({ target }) => target, cell: ({ target }) => <Target id={target} /> },
  {
    title: 'Subscription',
    cell: ({ subscription }) => (subscription === null ? '–' : <SubscriptionLink id={subscription} />),
  },
  { title: 'Change', cell: (entry) => shortened(summaryOf(entry)) },
  {
    title: 'Details',
    cell: (entry) => (
      <Button
        small
        label={`Before / after of ${entry.action} at ${dateTime(entry.time)}`}
        onClick={() => open(entry)}
      >
        Before / after
      </Button>
    ),
  },
];

const AuditPage = () => {
  const [words, setWords] = useState('');
  const [action, setAction] = useState('');
  const [opened, setOpened] = useState<AuditEntry>();
  const subscription = here.value.query.get('subscription') ?? '';
  const entries = useEntries<AuditEntry>('/audit', { subscription }, step);
  return (
    <div class="stack">
      <PageHead
        title="Audit"
        intro="Every change that was made here, over the admin API or by the command line. Kept for 400 days."
        actions={<Button onClick={entries.reload}>Refresh</Button>}
      />
      <Show of={entries}>
        {({ entries: all }) => {
          const shown = all.filter(
            (entry) =>
              (action === '' || entry.action === action) &&
              hasWords([entry.id, entry.who, entry.action, entry.target, summaryOf(entry)], words),
          );
          return (
            <>
              <div class="grid">
                <TextField
                  label="Search"
                  type="search"
                  value={words}
                  onChange={setWords}
                  placeholder="who, action, id, value …"
                />
                <SelectField
                  label="Action"
                  value={action}
                  onChange={setAction}
                  options={[
                    { value: '', label: 'every action' },
                    ...[...new Set(all.map((entry) => entry.action))].sort(),
                  ]}
                />
                <SubscriptionFilter />
              </div>
              <p class="muted" role="status">
                {shown.length} of {all.length} entries
              </p>
              <Table
                caption="Audit log"
                columns={columnsWith(setOpened)}
                rows={shown}
                rowKey={({ id }) => id}
                selected={opened?.id}
                empty={all.length === 0 ? 'Nothing was changed yet.' : 'No entry matches.'}
              />
            </>
          );
        }}
      </Show>
      <More of={entries} what="entries" />
      {opened !== undefined && <EntryDialog entry={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
};

export default AuditPage;
