/** Bar charts: CPU time against peers, and memory with slow clients. */
import type { TopLevelSpec } from 'vega-lite';
import type { NonNormalizedSpec } from 'vega-lite/types_unstable/spec/index.js';
import type { ResultFile } from '../result-file.ts';
import { type Bar, barsOf, medianOf, number, sourceOf, span, titleOf } from './data.ts';
import { configOf, type Theme } from './theme.ts';

export const rowHeight = 26;
/** Room for the label of the longest bar. */
const labelRoom = 1.3;

export const barPanel = (
  title: string,
  bars: readonly Bar[],
  theme: Theme,
  width: number,
  longest = Math.max(...bars.map(({ shown }) => shown), 1e-9),
): NonNormalizedSpec => {
  const values = bars.map((bar) => ({ ...bar, title: titleOf(bar.subject) }));
  const y = {
    field: 'title',
    type: 'nominal',
    sort: values.map((value) => value.title),
    axis: { title: null, labelLimit: 0, labelPadding: 8, labelColor: theme.text },
  } as const;
  const x = {
    field: 'shown',
    type: 'quantitative',
    axis: null,
    scale: { domain: span(0, longest * labelRoom) },
  } as const;
  const ours = { test: "datum.role === 'ours'" };
  return {
    title: { text: title, fontSize: 13, offset: 8 },
    width,
    height: rowHeight * bars.length,
    data: { values },
    layer: [
      {
        mark: { type: 'bar', height: 16, cornerRadiusEnd: 3 },
        encoding: {
          y,
          x,
          color: {
            value: theme.plain,
            condition: [
              { ...ours, value: theme.accent },
              { test: "datum.role === 'proxy'", value: theme.faint },
            ],
          },
        },
      },
      {
        transform: [{ filter: 'datum.cut' }, { calculate: 'datum.shown * 0.9', as: 'gap' }],
        mark: {
          type: 'text',
          text: '∕∕',
          color: theme.background,
          fontSize: 20,
          fontWeight: 'bold',
          baseline: 'middle',
        },
        encoding: { y, x: { ...x, field: 'gap' } },
      },
      {
        mark: { type: 'text', align: 'left', dx: 6 },
        encoding: {
          y,
          x,
          text: { field: 'label' },
          color: { value: theme.text, condition: [{ ...ours, value: theme.accent }] },
        },
      },
    ],
  };
};

const namesOf = (bars: readonly Bar[]): string[] => bars.map(({ subject }) => subject);

const cpuPanels = [
  ['Non-streamed response · µs per request', 'whole', 'cpu_us_per_request'],
  ['The same at 300 requests/s · µs per request', 'rate', 'cpu_us_per_request'],
  ['Token of 200 streams at 20 tokens/s · µs', 'paced200', 'cpu_us_per_chunk'],
  ['Token of 64 unpaced streams · µs', 'fast', 'cpu_us_per_chunk'],
] as const;

export const cpuChart = (result: ResultFile, theme: Theme): TopLevelSpec | undefined => {
  const panels = cpuPanels
    .map(([title, scenario, metric]) => ({ title, bars: barsOf(result, scenario, metric) }))
    .filter(({ bars }) => bars.length > 0);
  if (panels.length === 0) return undefined;
  return {
    title: {
      text: 'CPU time of a gateway: less is better',
      subtitle: [
        'Sluice has authentication, limits, validation and billing on; the floor and nginx parse nothing.',
        ...sourceOf(result, namesOf(panels.flatMap(({ bars }) => bars)), medianOf(result)),
      ],
    },
    columns: 2,
    concat: panels.map(({ title, bars }) => barPanel(title, bars, theme, 220)),
    config: configOf(theme),
  };
};

/** The run ends at a limit; how much more a gateway would have taken is not known. */
const stopped = /^held more than/;

export const memoryChart = (result: ResultFile, theme: Theme): TopLevelSpec | undefined => {
  const bars = barsOf(result, 'slow', 'rss_growth_mb', {
    offScale: Number.POSITIVE_INFINITY,
    labelOf: (value, subject, results) => {
      const more = Object.keys(results.errors('slow', subject)).some((reason) => stopped.test(reason));
      return more ? `more than ${number(value)} MB` : `${number(value)} MB`;
    },
  });
  if (bars.length === 0) return undefined;
  return {
    title: {
      text: 'Memory that 200 slow clients add',
      subtitle: [
        'Each reads a response of 20 MB at half a megabyte per second; at 2,000 MB the run is stopped.',
        ...sourceOf(result, namesOf(bars)),
      ],
    },
    concat: [barPanel('', bars, theme, 520)],
    config: configOf(theme),
  };
};
