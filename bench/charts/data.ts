/** What the charts show, taken from the results of a run. */
import type { ResultFile } from '../result-file.ts';
import { Results } from '../results.ts';

export interface Bar {
  readonly subject: string;
  readonly value: number;
  /** Where the bar ends: one that is off the scale ends at the edge. */
  readonly shown: number;
  readonly label: string;
  readonly role: Role;
  readonly cut: boolean;
}

export type Role = 'ours' | 'gateway' | 'proxy';

/** They parse nothing: a reference, not an alternative. */
const proxies = new Set(['floor', 'nginx']);
export const roleOf = (subject: string): Role =>
  subject === 'sluice' ? 'ours' : proxies.has(subject) ? 'proxy' : 'gateway';

const titles: Readonly<Record<string, string>> = {
  sluice: 'Sluice',
  floor: 'floor (bare relay)',
  nginx: 'nginx, bare proxy',
  'vllm-router': 'vllm-router (Rust)',
  smg: 'smg (Rust)',
  portkey: 'Portkey (Node)',
  litellm: 'LiteLLM (Python)',
};
export const titleOf = (subject: string): string => titles[subject] ?? subject;

export interface BarOptions {
  readonly labelOf?: (value: number, subject: string, results: Results) => string;
  /** A bar this many times as long as ours is cut: it would leave no room for the others. */
  readonly offScale?: number;
}

/** A domain, as Vega-Lite wants it: not a tuple. */
export const span = (from: number, to: number): number[] => [from, to];

export const number = (value: number): string =>
  value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(value < 10 ? 2 : 3)));

/** The values of a metric, smallest first. */
export const barsOf = (
  result: ResultFile,
  scenario: string,
  metric: string,
  { labelOf = number, offScale = 5 }: BarOptions = {},
): Bar[] => {
  const results = new Results(result.measurements);
  const values = result.subjects.flatMap(({ name }) => {
    const value = results.median(scenario, name, metric);
    return value === undefined ? [] : [{ subject: name, value }];
  });
  const own = values.find(({ subject }) => subject === 'sluice')?.value ?? Number.POSITIVE_INFINITY;
  const edge = own * offScale;
  const longest = Math.max(...values.map(({ value }) => value).filter((value) => value <= edge));
  return values
    .toSorted((one, other) => one.value - other.value)
    .map(({ subject, value }) => ({
      subject,
      value,
      shown: value > edge ? longest * 1.25 : value,
      label: labelOf(value, subject, results),
      role: roleOf(subject),
      cut: value > edge,
    }));
};

export interface Span {
  readonly subject: string;
  readonly p50: number;
  readonly p99: number;
  readonly role: Role;
}

/** Latency at a fixed rate over that of the engine without a gateway, smallest first. */
export const addedLatency = (result: ResultFile): Span[] => {
  const results = new Results(result.measurements);
  const over = (subject: string, metric: string): number | undefined => {
    const value = results.median('rate', subject, metric);
    const direct = results.median('rate', 'direct', metric);
    return value === undefined || direct === undefined ? undefined : value - direct;
  };
  return result.subjects
    .flatMap(({ name }) => {
      const p50 = over(name, 'latency_p50_ms');
      const p99 = over(name, 'latency_p99_ms');
      if (name === 'direct' || p50 === undefined || p99 === undefined) return [];
      return [{ subject: name, p50: Math.max(p50, 0.01), p99: Math.max(p99, p50, 0.01), role: roleOf(name) }];
    })
    .toSorted((one, other) => one.p50 - other.p50);
};

/** The machine, the date and the versions: the last lines of every chart's heading. */
export const sourceOf = (
  { machine, started, subjects: all }: Pick<ResultFile, 'machine' | 'started' | 'subjects'>,
  shown: readonly string[],
  how = '',
): string[] => {
  const processor = String(machine.processor).replaceAll(/\((R|TM)\)|Processor|CPU|@.*/g, '');
  const versions = all.flatMap(({ name, version }) =>
    version === undefined || !shown.includes(name) ? [] : `${name} ${version}`,
  );
  const where = [
    `${processor.replaceAll(/\s+/g, ' ').trim()}, ${machine.cores} cores, Node ${String(machine.node).replace('v', '')}`,
    started.slice(0, 10),
    ...(how === '' ? [] : [how]),
  ].join(' · ');
  return versions.length === 0 ? [where] : [where, versions.join(' · ')];
};

export const medianOf = ({ options: { rounds } }: ResultFile): string =>
  rounds === 1 ? 'one round' : `median of ${rounds} rounds`;
