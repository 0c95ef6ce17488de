/** The scenarios of the benchmark: load, duration and repetitions. */
import type { Load } from './load.ts';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly load: Load;
  /** Scenarios with compared CPU time, or sensitive to noise, run in every round; others once, except in a full run. */
  readonly everyRound: boolean;
  /** Columns of the table, in this order. */
  readonly columns: readonly string[];
  /** Features that a subject needs besides chat; others are skipped. */
  readonly needs?: string;
  /** Peers are left out: a bound of Sluice alone, and too long for all of them. */
  readonly withoutPeers?: boolean;
  /** Runs on processes started for it, and is compared with the same load on the warm one. */
  readonly cold?: boolean;
  /** Runs after a pause, and is compared with the same load after the warm-up. */
  readonly idle?: { readonly seconds: number; readonly warmUp: Load };
  /** The subject that CPU time is compared with; default: the floor. */
  readonly reference?: string;
}

export const scenarios = (full: boolean): readonly Scenario[] => {
  const time = (short: number, long: number): number => (full ? long : short);
  /** A slow gateway has a longer window: with too few responses there is no CPU time per response. */
  const closed = { kind: 'closed', clients: 64, warmSeconds: 1, atLeast: 64, longestSeconds: 6 } as const;
  const whole = { stream: false, knobs: { tokens: 64 } };
  const streams = { stream: true, knobs: { tokens: 200 } };
  const resumable = { headers: { 'sluice-resumable': '1' } };
  /** Scenarios that the warm-up does not cover. */
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
      title: 'non-streamed responses, 64 clients',
      everyRound: true,
      load: { ...closed, ...whole, windowSeconds: time(1.2, 4) },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      name: 'cold',
      title: 'the first 5000 non-streamed responses of a process, 64 clients',
      everyRound: false,
      cold: true,
      load: {
        kind: 'closed',
        ...whole,
        clients: 64,
        warmSeconds: 0,
        windowSeconds: 0,
        atLeast: 5000,
        // A slow gateway is measured over fewer.
        longestSeconds: 6,
      },
      columns: ['cpu_us_per_request', 'times_warm', 'next_cpu_us_per_request', 'next_times_warm'],
    },
    {
      name: 'rate',
      title: 'non-streamed responses, 300 requests/s',
      everyRound: true,
      // Subjects wait for minutes between their turns, and their first hundreds of requests after that cost more.
      load: { kind: 'open', ...whole, perSecond: 300, warmSeconds: 3, windowSeconds: time(1.5, 6) },
      columns: ['cpu_us_per_request', 'latency_p50_ms', 'latency_p90_ms', 'latency_p99_ms'],
    },
    {
      name: 'idle',
      title: 'non-streamed responses, 300 requests/s after 40 idle seconds',
      everyRound: false,
      withoutPeers: true,
      idle: { seconds: 40, warmUp: { ...closed, ...whole, windowSeconds: 3 } },
      load: { kind: 'open', ...whole, perSecond: 300, warmSeconds: 0, windowSeconds: 3 },
      columns: ['cpu_us_per_request', 'times_warm', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      name: 'fast',
      title: '64 unpaced streams of 200 tokens',
      everyRound: true,
      load: { ...closed, ...streams, windowSeconds: time(1.2, 4) },
      columns: ['chunks_per_second', 'cpu_us_per_chunk', 'first_token_p50_ms', 'latency_p50_ms'],
    },
    {
      name: 'paced200',
      title: '200 streams, 20 tokens/s',
      everyRound: true,
      load: pacedLoad(200),
      columns: ['cpu_us_per_chunk', 'first_token_p50_ms', 'gap_p50_ms', 'gap_p99_ms'],
    },
    {
      name: 'paced1000',
      title: '1000 streams, 20 tokens/s',
      everyRound: false,
      load: pacedLoad(1000),
      columns: ['cpu_us_per_chunk', 'first_token_p50_ms', 'gap_p99_ms', 'rss_peak_mb'],
    },
    {
      name: 'slow',
      title: '200 slow clients, 20 MB each',
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
      title: '100 clients disconnect',
      everyRound: false,
      load: { kind: 'disconnect', clients: 100 },
      columns: ['seen_by_engine', 'abort_p50_ms', 'abort_p99_ms', 'abort_max_ms'],
    },
    {
      name: 'upload',
      title: '60 MB uploads during 50 streams',
      // Three uploads take only two seconds, in which other load may interfere.
      everyRound: true,
      withoutPeers: true,
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
      title: 'embeddings, 64 texts per request, 16 clients',
      everyRound: false,
      needs: 'embeddings',
      load: { ...once, ...whole, format: 'embeddings', model: 'bench/vectors', clients: 16 },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      name: 'overload',
      title: 'rejections: one request per minute allowed, 64 clients',
      everyRound: false,
      needs: 'limits',
      load: { ...once, ...whole, model: 'bench/limited', answered: [200, 429], clients: 64 },
      columns: ['requests_per_second', 'cpu_us_per_request', 'latency_p50_ms', 'latency_p99_ms'],
    },
    {
      // Their logs stay in memory for a while: they come last.
      name: 'resumable',
      title: 'the unpaced streams, resumable',
      everyRound: true,
      needs: 'resumable',
      load: { ...closed, ...streams, ...resumable, windowSeconds: time(1.2, 4) },
      columns: ['chunks_per_second', 'cpu_us_per_chunk', 'first_token_p50_ms', 'latency_p50_ms'],
    },
    {
      name: 'resumable200',
      title: 'the 200 streams, resumable',
      everyRound: true,
      needs: 'resumable',
      load: { ...pacedLoad(200), ...resumable },
      columns: ['cpu_us_per_chunk', 'first_token_p50_ms', 'gap_p50_ms', 'gap_p99_ms'],
    },
  ];
};
