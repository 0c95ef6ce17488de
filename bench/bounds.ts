/** The bounds of Sluice against the floor and a peer measured in the same run. */
import type { Results } from './results.ts';

export interface Bound {
  readonly measure: string;
  /** Undefined when the run has no such value. */
  readonly value: (results: Results) => number | undefined;
  readonly limit: number;
  readonly aim?: number;
  /** Whether the value must be at most or at least the limit. */
  readonly kind: 'most' | 'least';
  readonly unit: string;
}

const ours = 'sluice';

const timesFloor = (measure: string, scenario: string, metric: string, limit: number): Bound => ({
  measure,
  value: (results) => results.ratio(scenario, metric, ours, 'floor'),
  limit,
  aim: 1,
  kind: 'most',
  unit: '× floor',
});

const timesOurs = (measure: string, scenario: string, metric: string, limit: number, aim: number): Bound => ({
  measure,
  value: (results) => results.ratio(scenario, metric, 'portkey', ours),
  limit,
  aim,
  kind: 'least',
  unit: '× ours',
});

const own = (measure: string, scenario: string, metric: string, limit: number, unit: string): Bound => ({
  measure,
  value: (results) => results.median(scenario, ours, metric),
  limit,
  kind: 'most',
  unit,
});

export const bounds: readonly Bound[] = [
  timesFloor('CPU per non-streamed request', 'whole', 'cpu_us_per_request', 1.6),
  timesFloor('CPU per chunk, paced', 'paced200', 'cpu_us_per_chunk', 1.35),
  timesFloor('CPU per chunk, fast', 'fast', 'cpu_us_per_chunk', 1.6),
  {
    measure: 'p50 at 300 requests/s',
    value: (results) => results.difference('rate', 'latency_p50_ms', ours, 'floor'),
    limit: 0.3,
    kind: 'most',
    unit: 'ms over floor',
  },
  timesOurs("Portkey's CPU per request", 'whole', 'cpu_us_per_request', 6, 10),
  timesOurs("Portkey's CPU per chunk", 'paced200', 'cpu_us_per_chunk', 2.5, 4),
  own('slow clients, memory growth', 'slow', 'rss_growth_mb', 100, 'MB'),
  own('1000 paced streams, memory', 'paced1000', 'rss_peak_mb', 200, 'MB'),
  {
    measure: 'disconnects that abort the engine call',
    value: (results) => results.median('disconnect', ours, 'seen_by_engine'),
    limit: 100,
    kind: 'least',
    unit: 'of 100',
  },
  own('disconnect to abort, p50', 'disconnect', 'abort_p50_ms', 5, 'ms'),
  own('stream gap p99 during 60 MB uploads', 'upload', 'gap_p99_over_idle_ms', 25, 'ms over idle'),
];

export interface Verdict {
  readonly bound: Bound;
  readonly value: number | undefined;
  readonly met: boolean | undefined;
  readonly aimMet: boolean | undefined;
}

export const judge = (results: Results): Verdict[] =>
  bounds.map((bound) => {
    const value = bound.value(results);
    const within = (limit: number | undefined): boolean | undefined => {
      if (value === undefined || limit === undefined) return undefined;
      return bound.kind === 'most' ? value <= limit : value >= limit;
    };
    return { bound, value, met: within(bound.limit), aimMet: within(bound.aim) };
  });
