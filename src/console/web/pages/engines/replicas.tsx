/** The replicas of an engine, with a button each that takes them out of service or back. */
import { useState } from 'preact/hooks';
import type { AdminEngine, AdminReplica } from '../../../../../schemas/admin/engines.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { messageOf } from '../../ui/error-note.tsx';
import { count, dateTime, duration, percent } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { CircuitBadge } from './badges.tsx';
import { setDrained } from './load.ts';

/** No other one would take calls. */
const isLast = ({ replicas }: AdminEngine, { url }: AdminReplica): boolean =>
  !replicas.some((other) => other.url !== url && !other.drained && other.circuit !== 'open');

const change = async (engine: AdminEngine, replica: AdminReplica): Promise<void> => {
  try {
    await setDrained(engine.id, replica.url, !replica.drained);
    toast(
      replica.drained
        ? `${replica.alias} gets calls again.`
        : `${replica.alias} finishes its calls and gets no more.`,
    );
  } catch (error) {
    toast(messageOf(error), 'bad');
  }
};

export const hitRate = ({ hit_rate }: AdminReplica['prefix']): string =>
  hit_rate === null ? '–' : percent(hit_rate);

export const Replicas = ({ engine }: { readonly engine: AdminEngine }) => {
  const [asked, ask] = useState<AdminReplica>();
  const columns: readonly Column<AdminReplica>[] = [
    {
      title: 'Replica',
      cell: ({ alias, url }) => (
        <div class="stack tight">
          <strong>{alias}</strong>
          <span class="mono">{url}</span>
        </div>
      ),
    },
    {
      title: 'Circuit',
      cell: (replica) => (
        <div class="stack tight">
          <span class="row">
            <CircuitBadge replica={replica} />
            {replica.drained && <Badge tone="warning">drained</Badge>}
          </span>
          {replica.open_since !== null && (
            <span class="muted">
              since {dateTime(replica.open_since)}
              {replica.cooldown_ms > 0 && `, a trial call in ${duration(replica.cooldown_ms)}`}
            </span>
          )}
        </div>
      ),
    },
    { title: 'In flight', number: true, cell: ({ in_flight }) => count(in_flight) },
    {
      title: 'Weight',
      number: true,
      cell: ({ weight, share }) =>
        share < 1 ? `${weight} × ${percent(share)} (slow start)` : String(weight),
    },
    { title: 'Prefix hits', number: true, cell: ({ prefix }) => hitRate(prefix) },
    {
      title: 'Last error',
      cell: ({ last_error }) =>
        last_error === null ? (
          '–'
        ) : (
          <div class="stack tight">
            <span class="anywhere">{last_error.message}</span>
            <span class="muted">{dateTime(last_error.time)}</span>
          </div>
        ),
    },
    {
      title: 'Service',
      cell: (replica) => (
        <Button
          small
          label={`${replica.drained ? 'Undrain' : 'Drain'} ${replica.alias}`}
          onClick={() =>
            !replica.drained && isLast(engine, replica) ? ask(replica) : void change(engine, replica)
          }
        >
          {replica.drained ? 'Undrain' : 'Drain'}
        </Button>
      ),
    },
  ];
  return (
    <>
      <Table
        caption={`Replicas of ${engine.id}`}
        columns={columns}
        rows={engine.replicas}
        rowKey={({ alias, url }) => `${alias} ${url}`}
      />
      {asked !== undefined && (
        <ConfirmDialog
          title="Drain the last replica?"
          action="Drain it"
          onConfirm={() => void change(engine, asked)}
          onClose={() => ask(undefined)}
        >
          <p>
            No other replica of {engine.id} takes calls now. Requests for its models fail until one is back.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
};
