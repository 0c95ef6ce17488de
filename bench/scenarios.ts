/** The rows of the benchmark: what is asked of every subject, for how long, and how often. */
import type { Load } from './load.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly load: Load;
  /** Rows whose cost is compared, or that noise easily spoils, run in every round; others once, unless the run is a full one. */
  readonly everyRound: boolean;
  /** What the table shows of it, in this order. */
  readonly columns: readonly string[];
  /** What a subject must be able to do beside chat; those that cannot are left out. */
  readonly needs?: string;
}

export const scenarios = (full: boolean): readonly Scenario[] => {
  const time = (short: number, long: number): number => (full ? long : short);
  const whole = { stream: false, knobs: { tokens: 64 } };
  const streams = { stream: true, knobs: { tokens: 200 } };
  /** Rows that no round has warmed up for. */
  const once = { kind: 'closed', warmSeconds: 1, windowSeconds: time(1.5, 4) } as const;
  const pacedLoad = (streams: number): Load => ({
    kind: 'paced',
    stream: true,
    knobs: { tokens: 100_000, rate: 20 },
    streams,
    rampSeconds: streams > 500 ? 2 : 1,
    settleSeconds: 0.5,
    windowSeconds: time(2, 8),
  });
  return [
    {
      name: 'whole',
      title: 'whole answers, 64 at once',
      everyRound: true,
      load: { kind: 'closed', ...whole, clients: 64, warmSeconds: 0.3, windowSeconds: time(1.2, 4) },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      name: 'rate',
      title: 'whole answers, 300 a second',
      everyRound: true,
      load: { kind: 'open', ...whole, perSecond: 300, warmSeconds: 0.3, windowSeconds: time(1.5, 6) },
      columns: ['cpu_us_per_request', 'latency_p50_ms', 'latency_p90_ms', 'latency_p99_ms'],
    },
    {
      name: 'fast',
      title: 'streams of 200 tokens, 64 at once, no pace',
      everyRound: true,
      load: { kind: 'closed', ...streams, clients: 64, warmSeconds: 0.3, windowSeconds: time(1.2, 4) },
      columns: ['chunks_per_second', 'cpu_us_per_chunk', 'first_token_p50_ms', 'latency_p50_ms'],
    },
    {
      name: 'paced200',
      title: '200 streams, 20 tokens a second',
      everyRound: true,
      load: pacedLoad(200),
      columns: ['cpu_us_per_chunk', 'first_token_p50_ms', 'gap_p50_ms', 'gap_p99_ms'],
    },
    {
      name: 'paced1000',
      title: '1000 streams, 20 tokens a second',
      everyRound: false,
      load: pacedLoad(1000),
      columns: ['cpu_us_per_chunk', 'first_token_p50_ms', 'gap_p99_ms', 'rss_peak_mb'],
    },
    {
      name: 'slow',
      title: '200 slow readers, 20 MB each',
      everyRound: false,
      load: {
        kind: 'slow',
        stream: true,
        knobs: { tokens: 20_000, size: 1024 },
        readers: 200,
        readEverySeconds: 0.5,
        windowSeconds: time(5, 15),
        maximumGrowth: 2000,
      },
      columns: ['rss_growth_mb', 'rss_peak_mb', 'read_mb', 'cpu_cores'],
    },
    {
      name: 'disconnect',
      title: '100 clients leave',
      everyRound: false,
      load: { kind: 'disconnect', clients: 100 },
      columns: ['seen_by_engine', 'abort_p50_ms', 'abort_p99_ms', 'abort_max_ms'],
    },
    {
      name: 'upload',
      title: '60 MB uploads beside 50 streams',
      // Three uploads are over in two seconds, in which the machine may think of something else.
      everyRound: true,
      load: {
        kind: 'upload',
        stream: true,
        knobs: { tokens: 100_000, rate: 20 },
        streams: 50,
        idleSeconds: time(2, 5),
        uploadBytes: 60_000_000,
        uploads: time(3, 8),
      },
      columns: ['gap_p99_over_idle_ms', 'upload_gap_max_ms', 'upload_ms', 'rss_growth_mb'],
    },
    {
      name: 'messages',
      title: 'the same streams in the messages format',
      everyRound: false,
      needs: 'messages',
      load: { ...once, ...streams, format: 'messages', clients: 64 },
      columns: ['chunks_per_second', 'cpu_us_per_chunk', 'first_token_p50_ms', 'latency_p50_ms'],
    },
    {
      name: 'responses',
      title: 'the same streams in the responses format',
      everyRound: false,
      needs: 'responses',
      load: { ...once, ...streams, format: 'responses', clients: 64 },
      columns: ['chunks_per_second', 'cpu_us_per_chunk', 'first_token_p50_ms', 'latency_p50_ms'],
    },
    {
      name: 'embeddings',
      title: 'embeddings, 64 texts a request, 16 at once',
      everyRound: false,
      needs: 'embeddings',
      load: { ...once, ...whole, format: 'embeddings', model: 'bench/vectors', clients: 16 },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      name: 'overload',
      title: 'one request a minute allowed, 64 clients that ask at once: refusals',
      everyRound: false,
      needs: 'limits',
      load: { ...once, ...whole, model: 'bench/limited', answered: [200, 429], clients: 64 },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
  ];
};
