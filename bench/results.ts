/** Computes medians of all rounds, and ratios between subjects paired by round. */
import type { Metrics } from './load/window.ts';

export interface Measurement {
  /** A value that ends in .5 is the second pass of a round. */
  readonly round: number;
  readonly scenario: string;
  readonly subject: string;
  readonly metrics: Metrics;
  readonly errors: Readonly<Record<string, number>>;
}

export class Results {
  readonly measurements: Measurement[];

  constructor(measurements: readonly Measurement[] = []) {
    this.measurements = [...measurements];
  }

  add(measurement: Measurement): void {
    this.measurements.push(measurement);
  }

  median(scenario: string, subject: string, metric: string): number | undefined {
    return median([...this.#byRound(scenario, subject, metric).values()]);
  }

  /** Consecutive runs share the machine's noise, so the ratio is taken before the median. */
  ratio(scenario: string, metric: string, subject: string, to: string): number | undefined {
    return this.#paired(scenario, metric, subject, to, (one, other) => one / other);
  }

  difference(scenario: string, metric: string, subject: string, to: string): number | undefined {
    return this.#paired(scenario, metric, subject, to, (one, other) => one - other);
  }

  /** All failures a subject had in a scenario, by reason. */
  errors(scenario: string, subject: string): Record<string, number> {
    const sum: Record<string, number> = {};
    for (const measurement of this.#of(scenario, subject)) {
      for (const [reason, count] of Object.entries(measurement.errors))
        sum[reason] = (sum[reason] ?? 0) + count;
    }
    return sum;
  }

  #of(scenario: string, subject: string): Measurement[] {
    return this.measurements.filter((each) => each.scenario === scenario && each.subject === subject);
  }

  #byRound(scenario: string, subject: string, metric: string): Map<number, number> {
    const values = new Map<number, number>();
    for (const { round, metrics } of this.#of(scenario, subject)) {
      const value = metrics[metric];
      if (value !== undefined && Number.isFinite(value)) values.set(round, value);
    }
    return values;
  }

  #paired(
    scenario: string,
    metric: string,
    subject: string,
    to: string,
    combine: (one: number, other: number) => number,
  ): number | undefined {
    const others = this.#byRound(scenario, to, metric);
    const pairs: number[] = [];
    for (const [round, one] of this.#byRound(scenario, subject, metric)) {
      const other = others.get(round);
      if (other !== undefined) pairs.push(combine(one, other));
    }
    return median(pairs);
  }
}

export const median = (values: readonly number[]): number | undefined => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[middle - 1];
  if (upper === undefined) return undefined;
  return sorted.length % 2 === 1 || lower === undefined ? upper : (lower + upper) / 2;
};
