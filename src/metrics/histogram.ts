/** Durations in; how many fell below each bound out: an addition or two a value, since every request passes here. */

/** Seconds. From a cached answer to a video that waited for its turn. */
const bounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800,
] as const;

export class Histogram {
  /** The last one is for what lies above all bounds. */
  readonly #counts = new Float64Array(bounds.length + 1);
  #sum = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    let place = 0;
    while (place < bounds.length && seconds > (bounds[place] ?? 0)) place++;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** As Prometheus wants it: each bound counts everything below it. */
  samples(name: string, labels: Readonly<Record<string, string>>): readonly Sample[] {
    let count = 0;
    const samples: Sample[] = [];
    for (const [place, added] of this.#counts.entries()) {
      count += added;
      const le = bounds[place] === undefined ? '+Inf' : String(bounds[place]);
      samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
    }
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels, value: count });
    return samples;
  }
}

export interface Sample {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
