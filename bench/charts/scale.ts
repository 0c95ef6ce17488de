/** The scale curve: CPU time per token and delivery delay from one stream to thousands; throughput over processes. */
import type { TopLevelSpec } from 'vega-lite';
import type { Field, PositionDef } from 'vega-lite/types_unstable/channeldef.js';
import type { NonNormalizedSpec } from 'vega-lite/types_unstable/spec/index.js';
import type { LayerSpec } from 'vega-lite/types_unstable/spec/layer.js';
import type { ResultFile } from '../result-file.ts';
import type { Point } from '../scale/curve.ts';
import { number, roleOf, sourceOf, span, titleOf } from './data.ts';
import { configOf, type Theme } from './theme.ts';

const height = 260;
/** Smallest distance between two labels, as a part of the height. */
const labelDistance = 0.065;

interface Placed {
  readonly subject: string;
  readonly streams: number;
  readonly value: number;
}

/** The last value of every subject, moved apart so that no two labels cover each other. */
const labelsOf = (points: readonly Placed[]): (Placed & { at: number })[] => {
  const last = [...new Map(points.map((point) => [point.subject, point])).values()];
  const values = points.map(({ value }) => Math.log(value));
  const distance = Math.max(Math.max(...values) - Math.min(...values), 0.1) * labelDistance;
  // From the top down, so that none leaves the panel there.
  let above = Math.max(...values) + distance;
  return last
    .toSorted((one, other) => other.value - one.value)
    .map((point) => {
      above = Math.min(Math.log(point.value), above - distance);
      return { ...point, at: Math.exp(above) };
    });
};

/** 1, 2 and 5 of every decade; where there are many, only powers of ten. */
const ticks = (values: readonly number[]): number[] => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const steps = high / low > 50 ? [1] : [1, 2, 5];
  const decades = Array.from({ length: 12 }, (_, index) => 10 ** (index - 4));
  return decades
    .flatMap((decade) => steps.map((step) => step * decade))
    .filter((tick) => tick >= low / 1.01 && tick <= high * 1.01);
};

const colorOf = (subject: string, theme: Theme): string =>
  roleOf(subject) === 'ours' ? theme.accent : (theme.lines[subject] ?? theme.plain);

const panel = (
  title: string,
  points: readonly Point[],
  pick: (point: Point) => number | undefined,
  theme: Theme,
  bend: number | undefined,
): NonNormalizedSpec => {
  const values = points
    .toSorted((one, other) => one.streams - other.streams)
    .flatMap(({ subject, streams, ...point }) => {
      const value = pick({ subject, streams, ...point });
      // A logarithmic axis has no zero; clocks and percentiles are no finer than this.
      return value === undefined ? [] : [{ subject, streams, value: Math.max(value, 0.01) }];
    });
  const subjects = [...new Set(values.map(({ subject }) => subject))];
  const counts = [...new Set(values.map(({ streams }) => streams))];
  const x = {
    field: 'streams',
    type: 'quantitative',
    scale: { type: 'log', nice: false, domain: span(Math.min(...counts), Math.max(...counts)) },
    axis: {
      title: 'streams at 20 tokens/s',
      values: counts,
      grid: false,
      labelOverlap: false,
      labelExpr: "datum.value >= 1000 ? datum.value / 1000 + 'k' : datum.value",
    },
  } as const;
  const y = {
    field: 'value',
    type: 'quantitative',
    scale: { type: 'log', nice: false },
    axis: {
      title: null,
      values: ticks(values.map(({ value }) => value)),
      labelExpr: 'format(datum.value, "~g")',
    },
  } as const;
  const color = {
    field: 'subject',
    type: 'nominal',
    legend: null,
    scale: { domain: subjects, range: subjects.map((subject) => colorOf(subject, theme)) },
  } as const;
  const labels = labelsOf(values).map((label) => ({
    ...label,
    text: `${titleOf(label.subject)} ${number(label.value)}`,
  }));
  const ours = { test: "datum.subject === 'sluice'" };
  return {
    title: { text: title, fontSize: 13, offset: 8 },
    width: 250,
    height,
    layer: [
      ...(bend === undefined ? [] : [bendMark(bend, x, theme)]),
      {
        data: { values },
        mark: { type: 'line', point: { size: 34, filled: true } },
        encoding: { x, y, color, strokeWidth: { value: 1.6, condition: [{ ...ours, value: 3 }] } },
      },
      {
        data: { values: labels },
        mark: { type: 'text', align: 'left', dx: 8, fontSize: 11 },
        encoding: {
          x,
          y: { ...y, field: 'at' },
          text: { field: 'text' },
          color,
        },
      },
    ],
  };
};

const bendMark = (streams: number, x: PositionDef<Field>, theme: Theme): LayerSpec<Field> => ({
  data: { values: [{ streams, text: `Sluice bends at ${number(streams)}` }] },
  layer: [
    { mark: { type: 'rule', strokeDash: [3, 4], color: theme.muted }, encoding: { x } },
    {
      mark: { type: 'text', align: 'right', dx: -5, y: 8, color: theme.muted, fontSize: 11 },
      encoding: { x, text: { field: 'text' } },
    },
  ],
});

export const scaleChart = (result: ResultFile, theme: Theme): TopLevelSpec | undefined => {
  const points = result.scale.points.filter(({ subject }) => subject !== 'direct');
  if (points.length === 0) return undefined;
  const bend = result.scale.bends.find(({ subject }) => subject === 'sluice');
  return {
    title: {
      text: 'From 1 to 5,000 streams through one process',
      subtitle: [
        ...(bend === undefined ? [] : [`At ${number(bend.streams)} streams ${bend.why}.`]),
        ...sourceOf(
          result,
          points.map(({ subject }) => subject),
        ),
      ],
    },
    columns: 2,
    spacing: 8,
    concat: [
      panel('CPU time per token · µs', points, ({ cpuPerToken }) => cpuPerToken, theme, bend?.streams),
      panel('Delay added to a token, p99 · ms', points, ({ addedP99 }) => addedP99, theme, bend?.streams),
    ],
    config: configOf(theme),
  };
};

export const processesChart = (result: ResultFile, theme: Theme): TopLevelSpec | undefined => {
  const rows = result.scale.throughput.filter(({ load }) => load === 'whole');
  if (rows.length < 2) return undefined;
  const values = rows.map(({ processes, requestsPerSecond, cores }) => ({
    title: `${processes} ${processes === 1 ? 'process' : 'processes'}`,
    value: requestsPerSecond,
    label: `${number(requestsPerSecond)}/s on ${cores.gateway.toFixed(2)} cores`,
  }));
  const longest = Math.max(...values.map(({ value }) => value));
  const y = {
    field: 'title',
    type: 'nominal',
    sort: null,
    axis: { title: null, labelPadding: 8, labelColor: theme.text },
  } as const;
  const x = {
    field: 'value',
    type: 'quantitative',
    axis: null,
    scale: { domain: span(0, longest * 1.4) },
  } as const;
  const limit = rows.at(-1)?.limitedBy ?? '';
  return {
    title: {
      text: 'Non-streamed responses per second over processes',
      subtitle: [`With the most processes, ${limit}.`, ...sourceOf(result, [])],
    },
    width: 520,
    height: 30 * rows.length,
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: 18, cornerRadiusEnd: 3, color: theme.accent },
        encoding: { x, y },
      },
      { mark: { type: 'text', align: 'left', dx: 6 }, encoding: { x, y, text: { field: 'label' } } },
    ],
    config: configOf(theme),
  };
};
