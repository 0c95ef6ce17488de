/** One key: its settings, its secrets, its budgets, and what can be done to it. */
import { useState } from 'preact/hooks';
import { adminJson, adminPath, adminRecord, ifMatch, type Versioned } from '../../api/admin.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { FailureNote } from '../../ui/failure-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { count, dateTime } from '../../ui/format.ts';
import { Show } from '../../ui/loading.tsx';
import { toast } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useSubmit } from '../../ui/use-submit.ts';
import { Budgets } from './budgets.tsx';
import { EditKey } from './key-form.tsx';
import { type AdminKey, limitKinds, limitNames, nameOf } from './records.ts';
import { SecretDialog } from './secret-dialog.tsx';
import { StatusBadge } from './status.tsx';
import { SubscriptionLink } from './subscriptions.tsx';

type Open = 'edit' | 'rotate' | 'revoke' | undefined;

export const KeyDetails = ({ id }: { readonly id: string }) => {
  const key = useLoad((signal) => adminRecord<AdminKey>(adminPath('keys', id), signal), [id]);
  return <Show of={key}>{(record) => <Details of={record} onChange={key.reload} />}</Show>;
};

const Details = ({
  of,
  onChange,
}: {
  readonly of: Versioned<AdminKey>;
  /** Loads it again. */
  readonly onChange: () => void;
}) => {
  const { value: key, etag } = of;
  const [open, setOpen] = useState<Open>();
  const [secret, setSecret] = useState<string>();
  const submission = useSubmit();
  const close = () => setOpen(undefined);
  const reload = () => {
    close();
    submission.clear();
    onChange();
  };
  const act = (verb: 'suspend' | 'resume' | 'revoke', done: string) =>
    submission.run(async () => {
      await adminJson(adminPath('keys', key.id, verb), { method: 'POST', headers: ifMatch(etag) });
      toast(done);
      onChange();
    });
  return (
    <div class="stack">
      <PageHead
        title={nameOf(key)}
        intro={<StatusBadge of={key} />}
        actions={
          <>
            <LinkButton href={linkTo(['keys'])}>All keys</LinkButton>
            {key.status !== 'closed' && (
              <>
                <Button onClick={() => setOpen('edit')}>Edit settings</Button>
                <Button onClick={() => setOpen('rotate')}>Rotate</Button>
                {key.status === 'active' ? (
                  <Button onClick={() => act('suspend', 'The key is suspended.')}>Suspend</Button>
                ) : (
                  <Button onClick={() => act('resume', 'The key works again.')}>Resume</Button>
                )}
                <Button kind="danger" onClick={() => setOpen('revoke')}>
                  Revoke
                </Button>
              </>
            )}
          </>
        }
      />
      <FailureNote of={submission} onReload={reload} />
      <div class="grid wide">
        <Card title="Key">
          <Facts>
            <Fact name="Id">
              <code>{key.id}</code> <CopyButton text={key.id} name="the id" />
            </Fact>
            <Fact name="Secret">
              <code>{key.display}</code>
            </Fact>
            {key.former_secrets.map(({ display, expires }) => (
              <Fact key={display} name="Former secret">
                <code>{display}</code>{' '}
                {expires === null
                  ? ''
                  : `${expires * 1000 > Date.now() ? 'works until' : 'ended'} ${dateTime(expires * 1000)}`}
              </Fact>
            ))}
            <Fact name="Subscription">
              <SubscriptionLink id={key.subscription} />
            </Fact>
            <Fact name="Created">{dateTime(key.created * 1000)}</Fact>
            <Fact name="Last used">{key.last_used === null ? 'never' : dateTime(key.last_used * 1000)}</Fact>
            <Fact name="Expires">{key.expires === undefined ? 'never' : dateTime(key.expires * 1000)}</Fact>
          </Facts>
        </Card>
        <Card title="May be used for">
          <Facts>
            <Scope name="Models" words={key.models} />
            <Scope name="Routes" words={key.routes} />
            <Scope name="Networks" words={key.networks} />
          </Facts>
        </Card>
        <Card title="Limits of this key">
          <Facts>
            {limitKinds.map((kind) => (
              <Fact key={kind} name={limitNames[kind]}>
                {key.limits?.[kind] === undefined ? 'none' : count(key.limits[kind])}
              </Fact>
            ))}
          </Facts>
        </Card>
        <Card title="Notes">
          <Facts>
            <Scope name="Tags" words={key.tags} none="none" />
            {Object.entries(key.metadata ?? {}).map(([name, value]) => (
              <Fact key={name} name={name}>
                {value}
              </Fact>
            ))}
          </Facts>
        </Card>
      </div>
      <Budgets
        title="Budgets of this key"
        isShown={(budget) => budget.key === key.id}
        preset={{ key: key.id }}
      />
      {open === 'edit' && (
        <EditKey
          of={of}
          onSaved={() => {
            toast('The settings are saved.');
            reload();
          }}
          onReload={reload}
          onClose={close}
        />
      )}
      {open === 'rotate' && (
        <RotateKey
          of={of}
          onRotated={(made) => {
            close();
            setSecret(made);
          }}
          onReload={reload}
          onClose={close}
        />
      )}
      {open === 'revoke' && (
        <ConfirmDialog
          title={`Revoke ${nameOf(key)}?`}
          action="Revoke the key"
          onConfirm={() => void act('revoke', 'The key is revoked.')}
          onClose={close}
        >
          All its secrets are refused from then on. This cannot be undone; to refuse it for a while, suspend
          it.
        </ConfirmDialog>
      )}
      {secret !== undefined && (
        <SecretDialog
          name={nameOf(key)}
          secret={secret}
          onClose={() => {
            setSecret(undefined);
            onChange();
          }}
        />
      )}
    </div>
  );
};

const Scope = ({
  name,
  words,
  none = 'all',
}: {
  readonly name: string;
  readonly words: readonly string[] | undefined;
  readonly none?: string;
}) => (
  <Fact name={name}>
    {words === undefined ? (
      none
    ) : (
      <div class="row">
        {words.map((word) => (
          <Badge key={word}>{word}</Badge>
        ))}
      </div>
    )}
  </Fact>
);

const secondsPerHour = 3600;

const RotateKey = ({
  of: { value: key, etag },
  onRotated,
  onReload,
  onClose,
}: {
  readonly of: Versioned<AdminKey>;
  readonly onRotated: (secret: string) => void;
  readonly onReload: () => void;
  readonly onClose: () => void;
}) => {
  const [hours, setHours] = useState('24');
  const submission = useSubmit();
  const rotate = () =>
    submission.run(async () => {
      const { secret } = await adminJson<{ readonly secret: string }>(adminPath('keys', key.id, 'rotate'), {
        method: 'POST',
        body: { overlap: Math.round(Number(hours) * secondsPerHour) },
        headers: ifMatch(etag),
      });
      onRotated(secret);
    });
  return (
    <FormDialog
      title={`Rotate ${nameOf(key)}`}
      action="Make a new secret"
      submission={submission}
      fields={['overlap']}
      onSubmit={rotate}
      onClose={onClose}
      onReload={onReload}
    >
      <p>The key gets a new secret; its id, its settings and its usage stay.</p>
      <TextField
        label="Hours that the former secret still works"
        type="number"
        min={0}
        step="any"
        required
        value={hours}
        onChange={setHours}
        hint="0: it is refused at once."
        problem={submission.problem('overlap')}
      />
    </FormDialog>
  );
};
