/** The models in service with their engines, prices and problems. */
import { useState } from 'preact/hooks';
import type { AdminModel } from '../../../../../schemas/admin/engines.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { TextField } from '../../ui/field.tsx';
import { compact } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { HealthBadge } from './badges.tsx';

const columns: readonly Column<AdminModel>[] = [
  {
    title: 'Model',
    sortBy: ({ id }) => id,
    cell: ({ id }) => <a href={linkTo(['engines', 'model', id])}>{id}</a>,
  },
  { title: 'Kind', sortBy: ({ kind }) => kind, cell: ({ kind }) => <Badge tone="accent">{kind}</Badge> },
  {
    title: 'Engine',
    sortBy: ({ engine }) => engine,
    cell: ({ engine }) => <a href={linkTo(['engines', 'engine', engine])}>{engine}</a>,
  },
  { title: 'Health', sortBy: ({ health }) => health, cell: ({ health }) => <HealthBadge health={health} /> },
  {
    title: 'Context',
    number: true,
    cell: ({ context_length }) => (context_length === undefined ? '–' : compact(context_length)),
  },
  { title: 'Listed', cell: (model) => (model.private ? 'no: private' : 'yes') },
  {
    title: 'Problems',
    sortBy: ({ problems }) => problems.length,
    cell: ({ problems }) =>
      problems.length === 0 ? '–' : problems.map((problem) => `${problem}.`).join(' '),
  },
];

export const ModelsTable = ({ models }: { readonly models: readonly AdminModel[] }) => {
  const [words, setWords] = useState('');
  const shown = models.filter(({ id, kind, engine }) =>
    `${id} ${kind} ${engine}`.toLowerCase().includes(words.trim().toLowerCase()),
  );
  return (
    <>
      <div class="grid">
        <TextField
          label="Filter"
          type="search"
          value={words}
          onChange={setWords}
          placeholder="id, kind, engine"
        />
      </div>
      <p class="muted" role="status">
        {shown.length} of {models.length} models
      </p>
      <Table
        caption="Models in service"
        columns={columns}
        rows={shown}
        rowKey={({ id }) => id}
        empty="No model matches the filter."
      />
    </>
  );
};
