/** The bounds of Sluice against the floor and peers measured in the same run. */
import type { Results } from './results.ts';

export interface Bound {
  readonly measure: string;
  /** Undefined when the run has no such value: then the bound is not judged. */
  readonly value: (results: Results) => number | undefined;
  readonly limit: number;
  /** May depend on what else was measured. */
  readonly aim?: number | ((results: Results) => number | undefined);
  /** Whether the value must be at most or at least the limit. */
  readonly kind: 'most' | 'least';
  readonly unit: string;
}

const ours = 'sluice';
const rust = 'vllm-router';
const perRequest = 'cpu_us_per_request';
const perChunk = 'cpu_us_per_chunk';

/** Megabytes. Eight runs of the floor, four on each of two processes, grew by 0 to 15: garbage collection decides. */
const memoryNoise = 20;

interface Ratio {
  readonly scenario: string;
  readonly metric: string;
  readonly to: string;
  readonly limit: number;
  readonly aim?: Bound['aim'];
  readonly subject?: string;
}

const times = (measure: string, { scenario, metric, to, limit, aim = 1, subject = ours }: Ratio): Bound => ({
  measure,
  value: (results) => results.ratio(scenario, metric, subject, to),
  limit,
  aim,
  kind: 'most',
  unit: `× ${to}`,
});

const own = (measure: string, scenario: string, metric: string, limit: number, unit: string): Bound => ({
  measure,
  value: (results) => results.median(scenario, ours, metric),
  limit,
  kind: 'most',
  unit,
});

const timesPlain = (measure: string, scenario: string, plain: string): Bound => ({
  measure,
  value: (results) => {
    const [value, reference] = [scenario, plain].map((name) => results.median(name, ours, perChunk));
    return value === undefined || reference === undefined ? undefined : value / reference;
  },
  limit: 1.3,
  kind: 'most',
  unit: '× a plain stream',
});

/** As many times as much CPU time as ours. */
const portkey = (measure: string, scenario: string, metric: string, limit: number, aim: number): Bound => ({
  measure,
  value: (results) => results.ratio(scenario, metric, 'portkey', ours),
  limit,
  aim,
  kind: 'least',
  unit: '× ours',
});

/** Halfway from vLLM's router to nginx, which parses nothing. */
const halfwayToNginx = (results: Results): number | undefined => {
  const bare = results.ratio('paced200', perChunk, 'nginx', rust);
  return bare === undefined ? undefined : (1 + bare) / 2;
};

const withServices = (measure: string, scenario: string, metric: string): Bound =>
  times(`${measure}, with Redis, Kafka and ClickHouse`, {
    scenario: `services/${scenario}`,
    metric,
    subject: 'services',
    to: 'embedded',
    limit: 1.25,
  });

export const bounds: readonly Bound[] = [
  times('CPU per non-streamed request', { scenario: 'whole', metric: perRequest, to: 'floor', limit: 1.4 }),
  times('CPU per chunk, paced', { scenario: 'paced200', metric: perChunk, to: 'floor', limit: 1.35 }),
  times('CPU per chunk, fast', { scenario: 'fast', metric: perChunk, to: 'floor', limit: 1.6 }),
  times('first token of unpaced streams, p50', {
    scenario: 'fast',
    metric: 'first_token_p50_ms',
    to: 'floor',
    limit: 1,
    aim: 0.5,
  }),
  times('CPU per embeddings request', {
    scenario: 'embeddings',
    metric: perRequest,
    to: 'floor',
    limit: 2.5,
    aim: 1.5,
  }),
  times('CPU per non-streamed request', {
    scenario: 'whole',
    metric: perRequest,
    to: rust,
    limit: 0.85,
    aim: 0.7,
  }),
  times('CPU per chunk, paced', {
    scenario: 'paced200',
    metric: perChunk,
    to: rust,
    limit: 1,
    aim: halfwayToNginx,
  }),
  times('CPU per chunk, fast', { scenario: 'fast', metric: perChunk, to: rust, limit: 0.9, aim: 0.7 }),
  times('CPU per request at 300 requests/s', {
    scenario: 'rate',
    metric: perRequest,
    to: rust,
    limit: 1,
    aim: 0.85,
  }),
  own('CPU per request after the first 5000', 'cold', 'next_times_warm', 1.5, '× warm'),
  own('CPU per request at 300 requests/s after a pause', 'idle', 'times_warm', 2, '× warm'),
  {
    measure: 'p50 at 300 requests/s',
    value: (results) => results.difference('rate', 'latency_p50_ms', ours, 'floor'),
    limit: 0.3,
    kind: 'most',
    unit: 'ms over floor',
  },
  portkey("Portkey's CPU per request", 'whole', perRequest, 6, 10),
  portkey("Portkey's CPU per chunk", 'paced200', perChunk, 2.5, 4),
  own('slow clients, memory growth', 'slow', 'rss_growth_mb', 100, 'MB'),
  {
    measure: 'slow clients, memory growth',
    value: (results) => results.difference('slow', 'rss_growth_mb', ours, 'floor'),
    limit: memoryNoise,
    aim: 0,
    kind: 'most',
    unit: 'MB over floor',
  },
  own('1000 paced streams, memory', 'paced1000', 'rss_peak_mb', 150, 'MB'),
  {
    measure: 'disconnects that abort the engine call',
    value: (results) => results.median('disconnect', ours, 'seen_by_engine'),
    limit: 100,
    kind: 'least',
    unit: 'of 100',
  },
  own('disconnect to abort, p50', 'disconnect', 'abort_p50_ms', 5, 'ms'),
  own('stream gap p99 during 60 MB uploads', 'upload', 'gap_p99_over_idle_ms', 25, 'ms over idle'),
  timesPlain('CPU per chunk, resumable, paced', 'resumable200', 'paced200'),
  timesPlain('CPU per chunk, resumable, fast', 'resumable', 'fast'),
  withServices('CPU per non-streamed request', 'whole', perRequest),
  withServices('CPU per chunk, fast', 'fast', perChunk),
  withServices('CPU per chunk, paced', 'paced200', perChunk),
];

export interface Verdict {
  readonly bound: Bound;
  readonly value: number | undefined;
  readonly aim: number | undefined;
  readonly met: boolean | undefined;
  readonly aimMet: boolean | undefined;
}

export const judge = (results: Results): Verdict[] =>
  bounds.map((bound) => {
    const value = bound.value(results);
    const aim = typeof bound.aim === 'function' ? bound.aim(results) : bound.aim;
    const within = (limit: number | undefined): boolean | undefined => {
      if (value === undefined || limit === undefined) return undefined;
      return bound.kind === 'most' ? value <= limit : value >= limit;
    };
    return { bound, value, aim, met: within(bound.limit), aimMet: within(aim) };
  });
