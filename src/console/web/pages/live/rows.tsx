/** Tables of requests: a bar each for the phases it went through. */
import type { LiveRow } from '../../../../../schemas/admin/live.ts';
import type { LogEntry } from '../../../../../schemas/admin/requests.ts';
import { count, duration, money, time } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { Signs, StateBadge } from './request-badges.tsx';
import { type Phase, phaseNames, phasesOf, type Shown, totalOf } from './timeline.ts';

/** Milliseconds that a full bar shows at least. */
const leastMs = 5_000;

const order: readonly Phase[] = ['receive', 'queue', 'wait', 'stream'];

const Bar = ({ request, scale }: { readonly request: Shown; readonly scale: number }) => {
  const phases = phasesOf(request);
  const text = order
    .filter((phase) => phases[phase] >= 1)
    .map((phase) => `${phaseNames[phase]} ${duration(phases[phase])}`)
    .join(', ');
  return (
    <div class="phases" title={text}>
      {order.map((phase) => (
        <span key={phase} class={phase} style={{ width: `${(phases[phase] / scale) * 100}%` }} />
      ))}
    </div>
  );
};

export const scaleOf = (requests: readonly Shown[]): number =>
  requests.reduce((most, request) => Math.max(most, totalOf(request)), leastMs);

interface Choosing {
  readonly onChoose: (id: string) => void;
}

const named = <R extends Shown>(onChoose: (id: string) => void): Column<R> => ({
  title: 'Request',
  cell: (request) => (
    <button type="button" class="link mono" onClick={() => onChoose(request.id)}>
      <span class="visually-hidden">Timeline of </span>
      {request.id}
    </button>
  ),
});

const bar = <R extends Shown>(scale: number): Column<R> => ({
  title: 'Progress',
  cell: (request) => <Bar request={request} scale={scale} />,
});

const either = (milliseconds: number | null): string =>
  milliseconds === null ? '–' : duration(milliseconds);

export const RunningTable = ({
  caption,
  requests,
  onChoose,
}: Choosing & { readonly caption: string; readonly requests: readonly LiveRow[] }) => {
  const columns: readonly Column<LiveRow>[] = [
    named(onChoose),
    { title: 'State', cell: (request) => <StateBadge request={request} /> },
    bar(scaleOf(requests)),
    { title: 'Queue', number: true, cell: ({ queue_ms }) => duration(queue_ms) },
    { title: 'First token', number: true, cell: ({ first_token_ms }) => either(first_token_ms) },
    { title: 'Tokens', number: true, cell: ({ completion_tokens }) => count(completion_tokens) },
    {
      title: 'Tokens/s',
      number: true,
      cell: ({ tokens_per_second }) => (tokens_per_second === null ? '–' : tokens_per_second.toFixed(1)),
    },
    { title: 'Age', number: true, cell: ({ age_ms }) => duration(age_ms) },
    {
      title: 'Notes',
      cell: (request) => (
        <div class="row">
          {request.replica !== null && <span class="mono">{request.replica}</span>}
          <Signs request={request} />
        </div>
      ),
    },
  ];
  return <Table caption={caption} columns={columns} rows={requests} rowKey={({ id }) => id} />;
};

export const EndedTable = ({ requests, onChoose }: Choosing & { readonly requests: readonly LogEntry[] }) => {
  const columns: readonly Column<LogEntry>[] = [
    { title: 'Ended', cell: (request) => time(request.time) },
    named(onChoose),
    { title: 'Model', cell: ({ model, route }) => <span class="mono">{model ?? route ?? '–'}</span> },
    { title: 'Status', cell: (request) => <StateBadge request={request} /> },
    bar(scaleOf(requests)),
    { title: 'First token', number: true, cell: ({ first_token_ms }) => either(first_token_ms) },
    { title: 'Tokens', number: true, cell: ({ completion_tokens }) => count(completion_tokens) },
    { title: 'Total', number: true, cell: ({ total_ms }) => duration(total_ms) },
    { title: 'Cost', number: true, cell: ({ cost }) => (cost === null ? '–' : money(cost)) },
    {
      title: 'Notes',
      cell: (request) => (
        <div class="row">
          <Signs request={request} />
        </div>
      ),
    },
  ];
  return (
    <Table
      caption="Requests that ended last"
      columns={columns}
      rows={requests}
      rowKey={({ id }) => id}
      empty="None has ended since this page was opened."
    />
  );
};
