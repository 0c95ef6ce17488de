/** The latency a gateway adds at a rate below its capacity: p50 and p99 of every subject on one scale. */
import type { TopLevelSpec } from 'vega-lite';
import type { ResultFile } from '../result-file.ts';
import { addedLatency, medianOf, number, sourceOf, span, titleOf } from './data.ts';
import { spanLayers } from './spans.ts';
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
    layer: spanLayers(y, x, theme),
    config: configOf(theme),
  };
};
