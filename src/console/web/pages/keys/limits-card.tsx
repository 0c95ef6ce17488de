/** The limits that a subscription has of its own, for all models and for single ones. */
import { useState } from 'preact/hooks';
import type { LimitKind, LimitNumbers } from '../../../../../schemas/limits.ts';
import { adminJson, adminPath, adminRecord, ifMatch, type Versioned } from '../../api/admin.ts';
import { listModels } from '../../api/public.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { count } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { limitChanges, limitDraft } from './key-draft.ts';
import { LimitFields } from './limit-fields.tsx';
import { type Limits, limitKinds } from './records.ts';

interface Row {
  /** Empty: all that have none of their own. */
  readonly model: string;
  readonly numbers: LimitNumbers;
}

/** Shorter than in forms: there are five beside each other. */
const columnNames: Readonly<Record<LimitKind, string>> = {
  concurrency: 'At once',
  requests_per_minute: 'Requests/min',
  tokens_per_minute: 'Tokens/min',
  prompt_tokens_per_minute: 'Prompt tokens/min',
  completion_tokens_per_minute: 'Completion tokens/min',
};

const titleOf = ({ model }: Row): string => (model === '' ? 'all other models' : model);

export const LimitsCard = ({ subscription }: { readonly subscription: string }) => {
  const limits = useLoad(
    (signal) => adminRecord<Limits>(adminPath('limits', subscription), signal),
    [subscription],
  );
  return (
    <Show of={limits}>
      {(record) => <LimitsTable of={record} subscription={subscription} onChange={limits.reload} />}
    </Show>
  );
};

const LimitsTable = ({
  of,
  subscription,
  onChange,
}: {
  readonly of: Versioned<Limits>;
  readonly subscription: string;
  readonly onChange: () => void;
}) => {
  const { value: limits, etag } = of;
  const [edited, setEdited] = useState<Row | 'new'>();
  const [removed, setRemoved] = useState<Row>();
  const submission = useSubmit();
  const rows: readonly Row[] = [
    { model: '', numbers: limits.all },
    ...Object.entries(limits.models).map(([model, numbers]) => ({ model, numbers })),
  ];
  const reload = () => {
    setEdited(undefined);
    submission.clear();
    onChange();
  };
  const remove = ({ model }: Row) =>
    submission.run(async () => {
      const path = adminPath('limits', subscription);
      await adminJson(path, { method: 'DELETE', query: { model }, headers: ifMatch(etag) });
      toast('The limits are removed.');
      onChange();
    });
  const columns: readonly Column<Row>[] = [
    { title: 'Model', cell: (row) => <span class={row.model === '' ? '' : 'mono'}>{titleOf(row)}</span> },
    ...limitKinds.map((kind) => ({
      title: columnNames[kind],
      number: true,
      cell: ({ numbers }: Row) => (numbers[kind] === undefined ? '–' : count(numbers[kind])),
    })),
    {
      title: 'Change',
      cell: (row) => (
        <div class="row nowrap">
          <Button small label={`Edit the limits of ${titleOf(row)}`} onClick={() => setEdited(row)}>
            Edit
          </Button>
          {row.model !== '' && (
            <Button small label={`Remove the limits of ${titleOf(row)}`} onClick={() => setRemoved(row)}>
              Remove
            </Button>
          )}
        </div>
      ),
    },
  ];
  return (
    <Card title="Limits" actions={<Button onClick={() => setEdited('new')}>New limits of a model</Button>}>
      <p class="muted">Instead of those of the catalog. –: as the catalog says.</p>
      <FailureNote of={submission} onReload={reload} />
      <Table caption="Limits of models" columns={columns} rows={rows} rowKey={({ model }) => model} />
      {edited !== undefined && (
        <EditLimits
          of={of}
          row={edited === 'new' ? undefined : edited}
          onSaved={() => {
            toast('The limits are saved.');
            reload();
          }}
          onReload={reload}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed !== undefined && (
        <ConfirmDialog
          title={`Remove the limits of ${titleOf(removed)}?`}
          action="Remove the limits"
          onConfirm={() => void remove(removed)}
          onClose={() => setRemoved(undefined)}
        >
          From then on the model has the limits of all other models of this subscription, or those of the
          catalog.
        </ConfirmDialog>
      )}
    </Card>
  );
};

const EditLimits = ({
  of: { value: limits, etag },
  row,
  onSaved,
  onReload,
  onClose,
}: {
  readonly of: Versioned<Limits>;
  /** Undefined: of a model that has none yet. */
  readonly row: Row | undefined;
  readonly onSaved: () => void;
  readonly onReload: () => void;
  readonly onClose: () => void;
}) => {
  const [model, setModel] = useState(row?.model ?? '');
  const before = limitDraft(row?.numbers);
  const [draft, setDraft] = useState(before);
  const models = useLoad((signal) => listModels(signal), []);
  const submission = useSubmit();
  const save = () =>
    submission.run(async () => {
      const changes = limitChanges(before, draft);
      if (row === undefined || Object.keys(changes).length > 0)
        await adminJson(adminPath('limits', limits.subscription), {
          method: 'PATCH',
          body: { ...(model === '' ? {} : { model }), ...changes },
          headers: ifMatch(etag),
        });
      onSaved();
    });
  return (
    <FormDialog
      title={row === undefined ? 'New limits of a model' : `Limits of ${titleOf(row)}`}
      action="Save"
      submission={submission}
      fields={['model', ...limitKinds]}
      onSubmit={save}
      onClose={onClose}
      onReload={onReload}
    >
      {row === undefined && (
        <TextField
          label="Model"
          required
          value={model}
          onChange={setModel}
          suggestions={(models.value ?? []).map(({ id }) => id)}
          problem={submission.problem('model')}
        />
      )}
      <LimitFields draft={draft} onChange={setDraft} problem={submission.problem} />
      <p class="muted">Empty: as the catalog says.</p>
    </FormDialog>
  );
};
