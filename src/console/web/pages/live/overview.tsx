/** Counts, charts and engines at the top of the live page. */
import type { LiveEngine } from '../../../../../schemas/admin/live.ts';
import { linkTo } from '../../router.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card, Stat } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { compact, count } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { HealthBadge, ReplicaBadges } from '../engines/badges.tsx';
import { inFlight, type LiveState, type Point } from './state.ts';

const rate = (value: number | null): string =>
  value === null ? '–' : value < 100 ? value.toFixed(1) : compact(value);

export const Counts = ({ state: { snapshot, points } }: { readonly state: LiveState }) => {
  const { counts } = snapshot;
  return (
    <div class="counts">
      <Stat name="In flight" value={count(inFlight(counts))} />
      <Stat name="Receiving" value={count(counts.receiving)} />
      <Stat name="Queued" value={count(counts.queued)} />
      <Stat name="Until first byte" value={count(counts.running)} />
      <Stat name="Streaming" value={count(counts.streaming)} />
      <Stat
        name="Slow readers"
        value={counts.slow_readers > 0 ? <Badge tone="warning">{count(counts.slow_readers)}</Badge> : '0'}
      />
      <Stat name="Tokens/s" value={rate(snapshot.tokens_per_second)} />
      <Stat name="Ended/s" value={rate(points.at(-1)?.ended ?? null)} />
    </div>
  );
};

/** Seconds that the charts show. */
const span = 60;

export const Charts = ({ points }: { readonly points: readonly Point[] }) => {
  const times = points.map(({ at }) => at);
  const common = { times, span, axis: compact, height: 130, legend: false };
  return (
    <div class="charts">
      <Card title="Tokens per second">
        <Chart
          {...common}
          label={`Tokens per second, now ${rate(points.at(-1)?.tokens ?? null)}`}
          series={[{ name: 'tokens/s', values: points.map(({ tokens }) => tokens) }]}
        />
      </Card>
      <Card title="Requests in flight">
        <Chart
          {...common}
          label={`Requests in flight, now ${points.at(-1)?.inFlight ?? 0}`}
          series={[{ name: 'in flight', values: points.map((point) => point.inFlight), colour: 2 }]}
        />
      </Card>
    </div>
  );
};

const columns: readonly Column<LiveEngine>[] = [
  { title: 'Engine', cell: ({ id }) => <a href={linkTo(['engines', 'engine', id])}>{id}</a> },
  { title: 'Health', cell: (engine) => <HealthBadge health={engine.health} /> },
  {
    title: 'Replicas',
    cell: ({ replicas, problems }) => (
      <div class="row">
        {replicas.length === 0 && (
          <span class="muted">{problems.length === 0 ? 'inside the gateway' : 'none'}</span>
        )}
        <ReplicaBadges replicas={replicas} />
      </div>
    ),
  },
  { title: 'Waiting', number: true, cell: ({ waiting }) => count(waiting) },
  { title: 'Retries', number: true, cell: ({ retries }) => count(retries.made) },
  { title: 'Continued', number: true, cell: ({ continuations }) => count(continuations.made) },
  { title: 'Tokens/s', number: true, cell: ({ tokens_per_second }) => rate(tokens_per_second) },
];

export const Engines = ({ engines }: { readonly engines: readonly LiveEngine[] }) => (
  <Card title="Engines">
    <Table caption="Engines and their replicas" columns={columns} rows={engines} rowKey={({ id }) => id} />
  </Card>
);
