/** Routing: what the engines had cached, and the time to first token, by workload and way to choose a replica. */
import type { TopLevelSpec } from 'vega-lite';
import type { NonNormalizedSpec } from 'vega-lite/types_unstable/spec/index.js';
import type { Row } from '../routing/report.ts';
import type { RoutingResult } from '../routing/result-file.ts';
import { barPanel, rowHeight } from './bars.ts';
import { type Role, sourceOf, span } from './data.ts';
import { spanLayers } from './spans.ts';
import { configOf, type Theme } from './theme.ts';

/** Of those that were measured, in this order; variants are left to the table. */
const roles: ReadonlyMap<string, Role> = new Map([
  ['prefix', 'ours'],
  ['Sluice, prefix', 'ours'],
  ['least-busy', 'gateway'],
  ['Sluice, least-busy', 'gateway'],
  ['hash of 2 KB', 'gateway'],
  ['vllm-router, cache_aware', 'gateway'],
  ['smg, cache_aware', 'gateway'],
  // Knows what no gateway can know.
  ['oracle, soonest', 'proxy'],
  ['oracle', 'proxy'],
]);

const width = 260;

export const routingChart = (result: RoutingResult, theme: Theme): TopLevelSpec | undefined => {
  const subjects = [...roles.keys()].filter((name) => result.rows.some(({ subject }) => subject === name));
  const workloads = [...new Set(result.rows.map(({ workload }) => workload))];
  if (subjects.length === 0) return undefined;
  const rowsOf = (workload: string): Row[] =>
    subjects.flatMap((name) =>
      result.rows.filter((row) => row.workload === workload && row.subject === name),
    );
  const shown = workloads.flatMap(rowsOf);
  const slowest = Math.max(...shown.map(({ p99 }) => p99));
  return {
    title: {
      text: 'Prompt tokens found cached, time to first token',
      subtitle: [
        `${result.replicas} engine doubles with a prefix cache, ${result.seconds} s for each workload.`,
        result.simulated ? 'Simulated in virtual time, without sockets.' : 'Through HTTP.',
        ...sourceOf(
          result,
          result.subjects.map(({ name }) => name),
        ),
      ],
    },
    columns: 2,
    align: 'each',
    concat: workloads.flatMap((workload) => [
      hitRates(workload, rowsOf(workload), theme),
      firstTokens(rowsOf(workload), theme, slowest),
    ]),
    config: configOf(theme),
  };
};

const hitRates = (workload: string, rows: readonly Row[], theme: Theme): NonNormalizedSpec =>
  barPanel(
    `${workload} · cached`,
    rows.map(({ subject, hitRate }) => ({
      subject,
      value: hitRate,
      shown: hitRate,
      label: `${(100 * hitRate).toFixed(1)} %`,
      role: roleOf(subject),
      cut: false,
    })),
    theme,
    width,
    1,
  );

/** On one scale for all workloads. */
const firstTokens = (rows: readonly Row[], theme: Theme, slowest: number): NonNormalizedSpec => {
  const values = rows.map(({ subject, p50, p99 }) => ({
    subject,
    p50: Math.max(p50, 1),
    p99: Math.max(p99, 1),
    label50: p50.toFixed(0),
    label99: `${p99.toFixed(0)} ms`,
    role: roleOf(subject),
  }));
  const y = {
    field: 'subject',
    type: 'nominal',
    sort: values.map(({ subject }) => subject),
    axis: null,
  } as const;
  const x = {
    type: 'quantitative',
    axis: null,
    scale: { type: 'log', nice: false, domain: span(1, slowest * 5) },
  } as const;
  return {
    title: { text: 'first token, p50 and p99', fontSize: 13, offset: 8 },
    width,
    height: rowHeight * rows.length,
    data: { values },
    layer: spanLayers(y, x, theme),
  };
};

const roleOf = (subject: string): Role => roles.get(subject) ?? 'gateway';
