/** A simulated fleet over time: streams, refusals, waiting requests and Redis primaries, with its failures marked. */
import type { TopLevelSpec } from 'vega-lite';
import type { Field } from 'vega-lite/types_unstable/channeldef.js';
import type { NonNormalizedSpec } from 'vega-lite/types_unstable/spec/index.js';
import type { LayerSpec } from 'vega-lite/types_unstable/spec/layer.js';
import type { FleetResult } from '../simulate/result-file.ts';
import type { Second } from '../simulate/timeline.ts';
import { number, sourceOf, span } from './data.ts';
import { configOf, type Theme } from './theme.ts';

interface Line {
  readonly name: string;
  readonly color: (theme: Theme) => string;
  readonly value: (second: Second) => number;
}

const accent = (theme: Theme): string => theme.accent;
const warm = (theme: Theme): string => theme.lines['vllm-router'] ?? theme.plain;
const grey = (theme: Theme): string => theme.plain;

const [width, height] = [290, 150];

export const fleetChart = (result: FleetResult, theme: Theme): TopLevelSpec | undefined => {
  const { plan, seconds, replicas, largest } = result;
  if (seconds.length === 0) return undefined;
  const panel = (title: string, format: string, lines: readonly Line[]): NonNormalizedSpec =>
    panelOf(result, theme, title, format, lines);
  return {
    title: {
      text: `A simulated fleet: ${number(plan.requestsPerSecond)} requests/s, ${number(Math.max(...seconds.map(({ streaming }) => streaming)))} streams`,
      subtitle: [
        `${plan.gateways} gateways of ${plan.processes} processes, ${number(replicas)} engine replicas, ${plan.primaries} Redis primaries, ${plan.kafkaPartitions} Kafka partitions.`,
        `${number(plan.subscriptions)} subscriptions by Zipf's law; the largest sends ${number(largest.rate)}/s.`,
        ...sourceOf({ ...result, subjects: [] }, [], 'virtual time'),
      ],
    },
    columns: 2,
    resolve: { scale: { color: 'independent' } },
    concat: [
      panel('Streams', '~s', [{ name: 'running', color: accent, value: ({ streaming }) => streaming }]),
      panel('Requests refused · per second', '~s', [
        { name: '429', color: grey, value: (second) => second.refusedByRate + second.refusedByQueue },
        { name: '503', color: warm, value: (second) => second.refusedByOutage + second.refusedByEngines },
      ]),
      panel('Waiting', '~s', [
        { name: 'at their limit', color: grey, value: ({ queued }) => queued },
        { name: 'for an engine slot', color: accent, value: ({ slotless }) => slotless },
      ]),
      panel('Redis: part of a core in use', '.0%', [
        {
          name: 'mean primary',
          color: grey,
          value: ({ redis }) => redis.reduce((a, b) => a + b, 0) / redis.length,
        },
        { name: 'hottest', color: warm, value: ({ redis }) => Math.max(...redis) },
      ]),
    ],
    config: configOf(theme),
  };
};

const panelOf = (
  { plan, seconds }: FleetResult,
  theme: Theme,
  title: string,
  format: string,
  lines: readonly Line[],
): NonNormalizedSpec => {
  const values = lines.flatMap(({ name, value }) =>
    seconds.map((second) => ({ name, second: second.second, value: value(second) })),
  );
  const highest = Math.max(...values.map(({ value }) => value), 1e-9);
  const x = {
    field: 'second',
    type: 'quantitative',
    scale: { nice: false, domain: span(0, plan.seconds) },
    axis: { title: 'seconds', grid: false },
  } as const;
  const y = {
    field: 'value',
    type: 'quantitative',
    scale: { domain: span(0, highest * 1.3) },
    axis: { title: null, format, tickCount: 4 },
  } as const;
  const color = {
    field: 'name',
    type: 'nominal',
    scale: { domain: lines.map(({ name }) => name), range: lines.map((line) => line.color(theme)) },
    legend:
      lines.length === 1
        ? null
        : { title: null, orient: 'top', labelColor: theme.muted, offset: 2, symbolType: 'stroke' },
  } as const;
  return {
    title: { text: title, fontSize: 13, offset: 8 },
    width,
    height,
    layer: [
      ...marksOf(plan, theme),
      { data: { values }, mark: { type: 'line', strokeWidth: 2 }, encoding: { x, y, color } },
    ],
  };
};

/** When something fails. */
const marksOf = (
  { gatewayDies, failover, seconds }: FleetResult['plan'],
  theme: Theme,
): LayerSpec<Field>[] => {
  const values = [
    { at: gatewayDies, text: 'gateway dies' },
    { at: failover?.at, text: 'Redis fails over' },
  ].filter(({ at }) => at !== undefined && at < seconds);
  const x = {
    field: 'at',
    type: 'quantitative',
    scale: { nice: false, domain: span(0, seconds) },
  } as const;
  return values.map((value, index) => ({
    data: { values: [value] },
    layer: [
      { mark: { type: 'rule', strokeDash: [3, 4], color: theme.muted }, encoding: { x } },
      {
        // One below the other: the failures may be close together.
        mark: { type: 'text', align: 'right', dx: -4, y: 6 + 12 * index, color: theme.muted, fontSize: 10 },
        encoding: { x, text: { field: 'text' } },
      },
    ],
  }));
};
