/** Families of samples in; the text that Prometheus reads out. */
import type { Sample } from './histogram.ts';

export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly samples: readonly Sample[];
}

export const contentType = 'text/plain; version=0.0.4; charset=utf-8';

/** `common` labels are put on every sample: which process it is of, where several are asked. */
export const exposition = (
  families: readonly MetricFamily[],
  common: Readonly<Record<string, string>> = {},
): string => {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const { metricName = name, labels, value } of samples)
      lines.push(`${metricName}${labelText({ ...labels, ...common })} ${value}`);
  }
  return `${lines.join('\n')}\n`;
};

const labelText = (labels: Readonly<Record<string, string>>): string => {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
};

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/** The same families of several processes, told apart by a label, each family in one piece as the format wants it. */
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
