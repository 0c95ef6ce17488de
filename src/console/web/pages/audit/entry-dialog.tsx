/** One entry of the audit log: what changed, and the records before and after. */
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { dateTime } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { type AuditEntry, changesOf, type FieldChange } from './changes.ts';

const columns: readonly Column<FieldChange>[] = [
  { title: 'Field', cell: ({ field }) => <span class="mono">{field}</span> },
  { title: 'Before', cell: ({ before }) => before ?? '–' },
  { title: 'After', cell: ({ after }) => after ?? '–' },
];

const jsonOf = (value: unknown): string => JSON.stringify(value, undefined, 2);

export const EntryDialog = ({
  entry,
  onClose,
}: {
  readonly entry: AuditEntry;
  readonly onClose: () => void;
}) => (
  <Dialog title={entry.action} onClose={onClose}>
    <Facts>
      <Fact name="Time">{dateTime(entry.time)}</Fact>
      <Fact name="Who">{entry.who}</Fact>
      <Fact name="Target">
        <code>{entry.target}</code>
      </Fact>
      <Fact name="Entry">
        <code>{entry.id}</code>
      </Fact>
    </Facts>
    <Table
      caption="What changed"
      captionShown
      columns={columns}
      rows={changesOf(entry)}
      rowKey={({ field }) => field}
      empty="Nothing differs."
    />
    <h3>Before</h3>
    {entry.before === null ? (
      <p class="muted">There was nothing.</p>
    ) : (
      <Code text={jsonOf(entry.before)} name="what it was" />
    )}
    <h3>After</h3>
    {entry.after === null ? (
      <p class="muted">There is nothing.</p>
    ) : (
      <Code text={jsonOf(entry.after)} name="what it became" />
    )}
  </Dialog>
);
