/** A histogram of durations; every request passes here, so that a value costs an addition or two. */
import type { Sample } from './exposition.ts';

/** Seconds. From a cached response to a video that waited in a queue. */
const bounds = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800,
] as const;

export class Histogram {
  /** The last bucket is for what lies above all bounds. */
  readonly #counts = new Float64Array(bounds.length + 1);
  #sum = 0;

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000;
    let bucket = 0;
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** Prometheus wants cumulative buckets: each counts everything below its bound. */
  samples(name: string, labels: Sample['labels']): readonly Sample[] {
    let count = 0;
    const samples: Sample[] = [];
    for (const [bucket, added] of this.#counts.entries()) {
      count += added;
      const le = bounds[bucket] === undefined ? '+Inf' : String(bounds[bucket]);
      samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
    }
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels, value: count });
    return samples;
  }
}
