/** A budget: made for a subscription, a key or a tag, or changed. */
import { useState } from 'preact/hooks';
import { adminJson, adminPath, ifMatch, type Versioned } from '../../api/admin.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import type { AdminBudget } from './records.ts';

interface BudgetDraft {
  readonly amount: string;
  readonly period: string;
  readonly time_zone: string;
  readonly callback_url: string;
}

const settings = ['amount', 'period', 'time_zone', 'callback_url'] as const;

const periods = [
  { value: 'day', label: 'a day' },
  { value: 'week', label: 'a week, from Monday' },
  { value: 'month', label: 'a month' },
  { value: 'total', label: 'in all, without a reset' },
];

const Fields = ({
  draft,
  onChange,
  problem,
}: {
  readonly draft: BudgetDraft;
  readonly onChange: (draft: BudgetDraft) => void;
  readonly problem: (field: string) => string | undefined;
}) => {
  const set = (name: keyof BudgetDraft) => (value: string) => onChange({ ...draft, [name]: value });
  return (
    <>
      <div class="grid">
        <TextField
          label="Amount in US dollars"
          required
          value={draft.amount}
          onChange={set('amount')}
          placeholder="10.50"
          problem={problem('amount')}
        />
        <SelectField
          label="Period"
          value={draft.period}
          onChange={set('period')}
          options={periods}
          problem={problem('period')}
        />
        <TextField
          label="Time zone"
          value={draft.time_zone}
          onChange={set('time_zone')}
          hint="In which days begin, such as Europe/Berlin."
          problem={problem('time_zone')}
        />
      </div>
      <TextField
        label="Callback URL"
        value={draft.callback_url}
        onChange={set('callback_url')}
        hint="Gets a webhook when 50, 80 and 95 % are spent. Empty: none."
        problem={problem('callback_url')}
      />
    </>
  );
};

export type BudgetTarget = Partial<Record<'subscription' | 'key' | 'tag', string>>;

const targets = [
  { value: 'subscription', label: 'all calls of a subscription' },
  { value: 'key', label: 'one key' },
  { value: 'tag', label: 'all keys with a tag' },
];

const given = (fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

export const CreateBudget = ({
  preset,
  onSaved,
  onClose,
}: {
  readonly preset: BudgetTarget;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}) => {
  const [kind, setKind] = useState(preset.key === undefined ? 'subscription' : 'key');
  const [target, setTarget] = useState({ subscription: '', key: '', tag: '', ...preset });
  const [draft, setDraft] = useState<BudgetDraft>({
    ...{ amount: '', period: 'month', time_zone: 'UTC', callback_url: '' },
  });
  const submission = useSubmit();
  const { subscription, key, tag } = target;
  const create = () =>
    submission.run(async () => {
      const body = given({
        ...draft,
        ...(kind === 'key' ? { key } : { subscription }),
        ...(kind === 'tag' ? { tag } : {}),
      });
      await adminJson('/budgets', { method: 'POST', body });
      onSaved();
    });
  return (
    <FormDialog
      title="New budget"
      action="Create the budget"
      submission={submission}
      fields={[...settings, 'subscription', 'key', 'tag']}
      onSubmit={create}
      onClose={onClose}
    >
      <SelectField label="For" value={kind} onChange={setKind} options={targets} />
      {kind === 'key' && (
        <TextField
          label="Key"
          required
          value={key}
          onChange={(value) => setTarget({ ...target, key: value })}
          placeholder="key_…"
          problem={submission.problem('key')}
        />
      )}
      {kind === 'tag' && (
        <TextField
          label="Tag"
          required
          value={tag}
          onChange={(value) => setTarget({ ...target, tag: value })}
          problem={submission.problem('tag')}
        />
      )}
      {kind !== 'key' && (
        <TextField
          label="Subscription"
          required={kind === 'subscription'}
          value={subscription}
          onChange={(value) => setTarget({ ...target, subscription: value })}
          hint={kind === 'tag' ? 'Its keys only. Empty: those of all subscriptions.' : 'Its id, or its name.'}
          problem={submission.problem('subscription')}
        />
      )}
      <Fields draft={draft} onChange={setDraft} problem={submission.problem} />
    </FormDialog>
  );
};

const draftOf = ({ amount, period, time_zone, callback_url = '' }: AdminBudget): BudgetDraft => ({
  ...{ amount, period, time_zone, callback_url },
});

export const EditBudget = ({
  of: { value: budget, etag },
  onSaved,
  onReload,
  onClose,
}: {
  readonly of: Versioned<AdminBudget>;
  readonly onSaved: () => void;
  readonly onReload: () => void;
  readonly onClose: () => void;
}) => {
  const before = draftOf(budget);
  const [draft, setDraft] = useState(before);
  const submission = useSubmit();
  const save = () =>
    submission.run(async () => {
      const changed = settings.filter((name) => draft[name] !== before[name]);
      const sent = (name: keyof BudgetDraft): string | null =>
        name === 'callback_url' && draft[name] === '' ? null : draft[name];
      if (changed.length > 0)
        await adminJson(adminPath('budgets', budget.id), {
          method: 'PATCH',
          body: Object.fromEntries(changed.map((name) => [name, sent(name)])),
          headers: ifMatch(etag),
        });
      onSaved();
    });
  return (
    <FormDialog
      title="Edit the budget"
      action="Save"
      submission={submission}
      fields={settings}
      onSubmit={save}
      onClose={onClose}
      onReload={onReload}
    >
      <Fields draft={draft} onChange={setDraft} problem={submission.problem} />
    </FormDialog>
  );
};
