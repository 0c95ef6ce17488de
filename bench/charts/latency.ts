/** The latency a gateway adds at a rate below its capacity: p50 and p99 of every subject on one scale. */
import type { TopLevelSpec } from 'vega-lite';
import type { ResultFile } from '../result-file.ts';
import { addedLatency, medianOf, number, sourceOf, span, titleOf } from './data.ts';
import { configOf, type Theme } from './theme.ts';

const rowHeight = 30;

export const latencyChart = (result: ResultFile, theme: Theme): TopLevelSpec | undefined => {
  const spans = addedLatency(result);
  if (spans.length === 0) return undefined;
  const values = spans.map((each) => ({
    ...each,
    title: titleOf(each.subject),
    label50: number(each.p50),
    label99: `${number(each.p99)} ms`,
  }));
  const y = {
    field: 'title',
    type: 'nominal',
    sort: values.map(({ title }) => title),
    axis: { title: null, labelLimit: 0, labelPadding: 8, labelColor: theme.text },
  } as const;
  const smallest = Math.min(...spans.map(({ p50 }) => p50));
  const largest = Math.max(...spans.map(({ p99 }) => p99));
  const x = {
    type: 'quantitative',
    scale: { type: 'log', domain: span(smallest / 3, largest * 2.2) },
    axis: {
      title: 'milliseconds over the engine without a gateway, logarithmic',
      tickCount: 4,
      labelExpr: 'format(datum.value, "~g")',
    },
  } as const;
  const color = {
    value: theme.plain,
    condition: [
      { test: "datum.role === 'ours'", value: theme.accent },
      { test: "datum.role === 'proxy'", value: theme.faint },
    ],
  };
  const label = { value: theme.text, condition: [{ test: "datum.role === 'ours'", value: theme.accent }] };
  return {
    title: {
      text: 'Latency a gateway adds: p50 and p99',
      subtitle: [
        'Non-streamed responses at 300 requests/s.',
        ...sourceOf(
          result,
          spans.map(({ subject }) => subject),
          medianOf(result),
        ),
      ],
    },
    width: 520,
    height: rowHeight * spans.length,
    data: { values },
    layer: [
      {
        mark: { type: 'rule', strokeWidth: 6, strokeCap: 'round', opacity: 0.45 },
        encoding: { y, x: { ...x, field: 'p50' }, x2: { field: 'p99' }, color },
      },
      {
        mark: { type: 'point', filled: true, size: 90, opacity: 1 },
        encoding: { y, x: { ...x, field: 'p50' }, color },
      },
      {
        mark: { type: 'point', filled: true, size: 90, opacity: 1 },
        encoding: { y, x: { ...x, field: 'p99' }, color },
      },
      {
        mark: { type: 'text', align: 'right', dx: -9 },
        encoding: { y, x: { ...x, field: 'p50' }, text: { field: 'label50' }, color: label },
      },
      {
        mark: { type: 'text', align: 'left', dx: 9 },
        encoding: { y, x: { ...x, field: 'p99' }, text: { field: 'label99' }, color: label },
      },
    ],
    config: configOf(theme),
  };
};
