/** Metric families, and their text in the format of Prometheus. */

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** Where it is not the family's: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly metricName?: string;
  readonly labels: Labels;
  readonly value: number;
}

type Labels = Readonly<Record<string, string>>;

const family =
  (type: MetricFamily['type']) =>
  (name: string, help: string, value: number | readonly Sample[]): MetricFamily => ({
    name,
    help,
    type,
    samples: typeof value === 'number' ? [{ labels: {}, value }] : value,
  });

export const counter = family('counter');
export const gauge = family('gauge');
export const histogram = family('histogram');

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

export const exposition = (families: readonly MetricFamily[]): string => {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const { metricName = name, labels, value } of samples)
      lines.push(`${metricName}${labelText(labels)} ${value}`);
  }
  return `${lines.join('\n')}\n`;
};

const labelText = (labels: Labels): string => {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
};

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/** Families of several processes, with a label for the process; the format wants each family in one block. */
export const merged = (processes: ReadonlyMap<string, readonly MetricFamily[]>): readonly MetricFamily[] => {
  const byName = new Map<string, MetricFamily>();
  for (const [process, families] of processes)
    for (const family of families) {
      const samples = family.samples.map((sample) => ({ ...sample, labels: { ...sample.labels, process } }));
      const known = byName.get(family.name);
      byName.set(
        family.name,
        known === undefined ? { ...family, samples } : { ...known, samples: [...known.samples, ...samples] },
      );
    }
  return [...byName.values()];
};
