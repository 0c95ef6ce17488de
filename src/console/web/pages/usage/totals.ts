/** Sums of usage rows, and the stacked series of the chart. */
import { seriesColours } from '../../ui/series-colours.ts';
import { startOf, type Unit } from './period.ts';

export type Stack = 'none' | 'model' | 'key' | 'route' | 'subscription';

/** A row of `GET /usage`. */
export interface UsageRow {
  readonly hour?: string;
  readonly day?: string;
  readonly month?: string;
  readonly model?: string;
  readonly key?: string;
  readonly route?: string;
  readonly subscription?: string;
  readonly requests: number;
  readonly failed: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  readonly inputs: number;
  readonly megapixels: number;
  readonly seconds: number;
  readonly cost: string;
}

const measured = [
  'requests',
  'failed',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'inputs',
  'megapixels',
  'seconds',
] as const;
export type Measure = (typeof measured)[number] | 'cost';

/** For people: the exact amounts are in the export. */
export type Sums = Readonly<Record<Measure, number>>;

export const sumOf = (rows: readonly UsageRow[]): Sums => {
  const sums = Object.fromEntries([...measured, 'cost'].map((name) => [name, 0])) as Record<Measure, number>;
  for (const row of rows) {
    for (const name of measured) sums[name] += row[name];
    sums.cost += Number(row.cost);
  }
  return sums;
};

export interface Group {
  /** Value of the field that the rows are stacked by. */
  readonly id: string;
  readonly sums: Sums;
  readonly rows: readonly UsageRow[];
}

/** The largest first. */
export const groupsOf = (
  rows: readonly UsageRow[],
  stack: Exclude<Stack, 'none'>,
  measure: Measure,
): readonly Group[] => {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const id = row[stack] ?? '';
    const same = groups.get(id);
    if (same === undefined) groups.set(id, [row]);
    else same.push(row);
  }
  return [...groups]
    .map(([id, same]) => ({ id, rows: same, sums: sumOf(same) }))
    .sort((a, b) => b.sums[measure] - a.sums[measure] || a.id.localeCompare(b.id));
};

export interface Layer {
  readonly name: string;
  /** One for each bucket. */
  readonly values: readonly number[];
}

/** Those that do not get a colour of their own are one. */
export const layersOf = (
  groups: readonly { readonly name: string; readonly rows: readonly UsageRow[] }[],
  buckets: readonly number[],
  { unit, measure }: { readonly unit: Unit; readonly measure: Measure },
): readonly Layer[] => {
  const place = new Map(buckets.map((start, index) => [start, index]));
  const own = groups.length > seriesColours ? groups.slice(0, seriesColours - 1) : groups;
  const rest = groups.slice(own.length);
  const all =
    rest.length === 0
      ? own
      : [...own, { name: `${rest.length} others`, rows: rest.flatMap(({ rows }) => rows) }];
  return all.map(({ name, rows }) => {
    const values = buckets.map(() => 0);
    for (const row of rows) {
      const index = place.get(startOf(row[unit] ?? ''));
      if (index !== undefined) values[index] = (values[index] ?? 0) + Number(row[measure]);
    }
    return { name, values };
  });
};

/** Sums from the first layer on, the last one first: each is drawn over the one before. */
export const stacked = (
  layers: readonly Layer[],
): readonly { readonly layer: Layer; readonly colour: number; readonly sums: readonly number[] }[] => {
  let below: readonly number[] = [];
  return layers
    .map((layer, colour) => {
      const sums = layer.values.map((value, index) => value + (below[index] ?? 0));
      below = sums;
      return { layer, colour, sums };
    })
    .reverse();
};
