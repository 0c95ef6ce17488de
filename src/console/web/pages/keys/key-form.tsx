/** The settings of a key: created with them, or changed. */
import { useState } from 'preact/hooks';
import { adminJson, adminPath, ifMatch, type Versioned } from '../../api/admin.ts';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import { changesOf, draftOf, type KeyDraft, keyFields } from './key-draft.ts';
import { LimitFields } from './limit-fields.tsx';
import { type AdminKey, nameOf, type Subscription } from './records.ts';

const texts = [
  ['models', 'Models', 'Ids, one in a line; * stands for any characters. Empty: all.'],
  ['routes', 'Routes', 'One in a line, such as POST /chat/completions, GET * or /videos*. Empty: all.'],
  ['networks', 'Networks', 'Addresses of clients, such as 10.0.0.0/8, one in a line. Empty: all.'],
  ['tags', 'Tags', 'Words of your own, one in a line; budgets can be made for them.'],
] as const;

const Fields = ({
  draft,
  onChange,
  problem,
}: {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly problem: (field: string) => string | undefined;
}) => {
  const set = (name: keyof KeyDraft) => (value: string) => onChange({ ...draft, [name]: value });
  return (
    <>
      <div class="grid">
        <TextField
          label="Name"
          value={draft.name}
          onChange={set('name')}
          hint="For people: who or what uses it."
          problem={problem('name')}
        />
        <TextField
          label="Expires"
          type="datetime-local"
          step={1}
          value={draft.expires}
          onChange={set('expires')}
          hint="In your time zone. Empty: never."
          problem={problem('expires')}
        />
      </div>
      <div class="grid">
        {texts.map(([name, label, hint]) => (
          <TextArea
            key={name}
            label={label}
            mono
            rows={2}
            value={draft[name]}
            onChange={set(name)}
            hint={hint}
            problem={problem(name)}
          />
        ))}
      </div>
      <TextArea
        label="Metadata"
        mono
        rows={2}
        value={draft.metadata}
        onChange={set('metadata')}
        placeholder={'{"owner": "data team"}'}
        hint="Notes of your own, as a JSON object of texts."
        problem={problem('metadata')}
      />
      <h3>Limits of this key</h3>
      <p class="muted">Beside those of its subscription, for all models together. Empty: none.</p>
      <LimitFields
        draft={draft.limits}
        onChange={(limits) => onChange({ ...draft, limits })}
        problem={(kind) => problem(`limits.${kind}`)}
      />
    </>
  );
};

export const CreateKey = ({
  subscriptions,
  preset,
  onCreated,
  onClose,
}: {
  readonly subscriptions: readonly Subscription[];
  readonly preset?: string | undefined;
  readonly onCreated: (key: AdminKey, secret: string) => void;
  readonly onClose: () => void;
}) => {
  const open = subscriptions.filter(({ status }) => status !== 'closed');
  const [subscription, setSubscription] = useState(preset ?? open.at(-1)?.id ?? '');
  const [draft, setDraft] = useState(draftOf());
  const submission = useSubmit();
  const create = () =>
    submission.run(async () => {
      const changes = changesOf(draftOf(), draft);
      const { secret, ...key } = await adminJson<AdminKey & { readonly secret: string }>('/keys', {
        method: 'POST',
        body: { subscription, ...changes },
      });
      onCreated(key, secret);
    });
  return (
    <FormDialog
      title="New key"
      action="Create the key"
      submission={submission}
      fields={keyFields}
      onSubmit={create}
      onClose={onClose}
    >
      <SelectField
        label="Subscription"
        value={subscription}
        onChange={setSubscription}
        options={open.map((each) => ({ value: each.id, label: nameOf(each) }))}
        problem={submission.problem('subscription')}
      />
      <Fields draft={draft} onChange={setDraft} problem={submission.problem} />
    </FormDialog>
  );
};

export const EditKey = ({
  of: { value: key, etag },
  onSaved,
  onReload,
  onClose,
}: {
  readonly of: Versioned<AdminKey>;
  readonly onSaved: () => void;
  readonly onReload: () => void;
  readonly onClose: () => void;
}) => {
  const [draft, setDraft] = useState(draftOf(key));
  const submission = useSubmit();
  const save = () =>
    submission.run(async () => {
      const body = changesOf(draftOf(key), draft);
      if (Object.keys(body).length > 0)
        await adminJson(adminPath('keys', key.id), { method: 'PATCH', body, headers: ifMatch(etag) });
      onSaved();
    });
  return (
    <FormDialog
      title={`Settings of ${nameOf(key)}`}
      action="Save"
      submission={submission}
      fields={keyFields}
      onSubmit={save}
      onClose={onClose}
      onReload={onReload}
    >
      <Fields draft={draft} onChange={setDraft} problem={submission.problem} />
    </FormDialog>
  );
};
