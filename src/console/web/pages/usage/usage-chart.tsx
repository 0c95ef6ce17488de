/** The stacked chart of usage, its totals, and what each part of it adds. */
import { Stat } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { compact, count, money, percent } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { bucketsOf, type Period, type Unit } from './period.ts';
import {
  type Group,
  type Layer,
  layersOf,
  type Measure,
  type Sums,
  stacked,
  type UsageRow,
} from './totals.ts';

export const measures: readonly { readonly value: Measure; readonly label: string }[] = [
  { value: 'cost', label: 'cost' },
  { value: 'requests', label: 'requests' },
  { value: 'failed', label: 'failed requests' },
  { value: 'prompt_tokens', label: 'tokens of prompts' },
  { value: 'completion_tokens', label: 'tokens of responses' },
  { value: 'seconds', label: 'seconds of media' },
];

export const formatOf = (measure: Measure): ((value: number) => string) =>
  measure === 'cost' ? money : measure === 'seconds' ? (value) => value.toFixed(1) : count;

const bucketText = (seconds: number, unit: Unit): string => {
  const text = new Date(seconds * 1000).toISOString();
  if (unit === 'hour') return `${text.slice(0, 10)} ${text.slice(11, 16)}`;
  return text.slice(0, unit === 'day' ? 10 : 7);
};

export const Totals = ({ sums }: { readonly sums: Sums }) => (
  <div class="grid totals">
    <Stat name="Cost" value={money(sums.cost)} />
    <Stat name="Requests" value={count(sums.requests)} hint={`${count(sums.failed)} failed`} />
    <Stat
      name="Tokens of prompts"
      value={count(sums.prompt_tokens)}
      hint={`${count(sums.cached_tokens)} cached`}
    />
    <Stat name="Tokens of responses" value={count(sums.completion_tokens)} />
    {sums.megapixels > 0 && <Stat name="Megapixels" value={sums.megapixels.toFixed(1)} />}
    {sums.seconds > 0 && <Stat name="Seconds of media" value={sums.seconds.toFixed(1)} />}
  </div>
);

interface Bucket {
  readonly start: number;
  readonly index: number;
}

const NumbersTable = ({
  buckets,
  layers,
  unit,
  format,
}: {
  readonly buckets: readonly number[];
  readonly layers: readonly Layer[];
  readonly unit: Unit;
  readonly format: (value: number) => string;
}) => {
  const rows = buckets
    .map((start, index): Bucket => ({ start, index }))
    .filter(({ index }) => layers.some(({ values }) => (values[index] ?? 0) > 0));
  const columns: readonly Column<Bucket>[] = [
    { title: unit, cell: ({ start }) => bucketText(start, unit) },
    ...layers.map(({ name, values }) => ({
      title: name,
      number: true,
      cell: ({ index }: Bucket) => format(values[index] ?? 0),
    })),
  ];
  return (
    <Table
      caption="Numbers of the chart"
      columns={columns}
      rows={rows}
      rowKey={({ start }) => String(start)}
    />
  );
};

export const UsageChart = ({
  period,
  unit,
  measure,
  parts,
}: {
  readonly period: Period;
  readonly unit: Unit;
  readonly measure: Measure;
  readonly parts: readonly { readonly name: string; readonly rows: readonly UsageRow[] }[];
}) => {
  const buckets = bucketsOf(period, unit);
  const layers = layersOf(parts, buckets, { unit, measure });
  const format = formatOf(measure);
  const what = measures.find(({ value }) => value === measure)?.label ?? measure;
  return (
    <>
      <Chart
        label={`${what} by ${unit}, stacked: ${layers.map(({ name }) => name).join(', ')}`}
        times={buckets}
        series={stacked(layers).map(({ layer, colour, sums }) => ({
          ...{ name: layer.name, values: sums, shown: layer.values, colour, format },
        }))}
        axis={measure === 'cost' ? money : compact}
        kind="bars"
        height={260}
        utc
      />
      <details>
        <summary>Numbers of the chart</summary>
        <NumbersTable buckets={buckets} layers={layers} unit={unit} format={format} />
      </details>
    </>
  );
};

export const PartsTable = ({
  groups,
  total,
  measure,
  nameOf,
  onChoose,
}: {
  readonly groups: readonly Group[];
  readonly total: number;
  readonly measure: Measure;
  readonly nameOf: (id: string) => string;
  readonly onChoose: (id: string) => void;
}) => {
  const columns: readonly Column<Group>[] = [
    {
      title: 'Name',
      sortBy: ({ id }) => nameOf(id),
      cell: ({ id }) => (
        <button type="button" class="link" onClick={() => onChoose(id)}>
          <span class="visually-hidden">Events of </span>
          {nameOf(id)}
        </button>
      ),
    },
    ...measures.slice(0, 5).map(({ value, label }) => ({
      title: label,
      number: true,
      sortBy: ({ sums }: Group) => sums[value],
      cell: ({ sums }: Group) => formatOf(value)(sums[value]),
    })),
    {
      title: 'Share',
      number: true,
      cell: ({ sums }) => (total === 0 ? '–' : percent(sums[measure] / total)),
    },
  ];
  return <Table caption="Parts of the usage" columns={columns} rows={groups} rowKey={({ id }) => id} />;
};
