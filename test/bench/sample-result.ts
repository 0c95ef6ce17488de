/** Small results of the bench and of the routing bench, with every subject and every chart's values. */
import type { ResultFile } from '../../bench/result-file.ts';
import { scaleOf } from '../../bench/result-file.ts';
import type { Measurement } from '../../bench/results.ts';
import { usualEngine } from '../../bench/routing/prefix-engine.ts';
import type { RoutingResult } from '../../bench/routing/result-file.ts';
import { usualPlan } from '../../bench/simulate/plan.ts';
import type { FleetResult } from '../../bench/simulate/result-file.ts';
import { noCounts, type Second } from '../../bench/simulate/timeline.ts';

interface Row {
  readonly name: string;
  /** CPU µs: whole, at a fixed rate, per paced and per unpaced token. */
  readonly cpu: readonly [number, number, number, number];
  readonly growth: number;
  readonly latency: readonly [number, number];
}

const rows: readonly Row[] = [
  { name: 'direct', cpu: [0, 0, 0, 0], growth: 0, latency: [0.3, 1.2] },
  { name: 'floor', cpu: [43, 244, 31.5, 5], growth: 53, latency: [0.5, 2.1] },
  { name: 'sluice', cpu: [58, 278, 34, 3.4], growth: 47, latency: [0.61, 2.6] },
  { name: 'nginx', cpu: [21, 78, 16.7, 2.1], growth: 3, latency: [0.38, 1.5] },
  { name: 'vllm-router', cpu: [83, 233, 26, 5.3], growth: 2030, latency: [0.9, 4.1] },
  { name: 'smg', cpu: [150, 389, 29.6, 5.1], growth: 2010, latency: [1.1, 5] },
  { name: 'portkey', cpu: [1575, 2100, 131, 22], growth: 400, latency: [4.2, 19] },
  { name: 'litellm', cpu: [11_000, 12_300, 1189, 300], growth: 120, latency: [900, 2400] },
];
const scaled = ['direct', 'floor', 'sluice', 'nginx', 'vllm-router'];
const counts = [1, 10, 50, 200, 1000, 2000, 5000];

const measurement = (scenario: string, subject: string, metrics: Record<string, number>): Measurement => ({
  round: 1,
  scenario,
  subject,
  metrics,
  errors:
    metrics.rss_growth_mb !== undefined && metrics.rss_growth_mb > 2000
      ? { 'held more than 2000 MB': 1 }
      : {},
});

const ofRow = ({
  name,
  cpu: [whole, rate, paced, fast],
  growth,
  latency: [p50, p99],
}: Row): Measurement[] => [
  ...(name === 'direct'
    ? []
    : [
        measurement('whole', name, { cpu_us_per_request: whole }),
        measurement('paced200', name, { cpu_us_per_chunk: paced }),
        measurement('fast', name, { cpu_us_per_chunk: fast }),
        measurement('slow', name, { rss_growth_mb: growth }),
      ]),
  measurement('rate', name, {
    ...(name === 'direct' ? {} : { cpu_us_per_request: rate }),
    latency_p50_ms: p50,
    latency_p99_ms: p99,
  }),
];

/** The more streams, the more of them share a wake-up, until there is no CPU time left. */
const scalePoints = scaled.flatMap((name, index) =>
  counts.map((streams) => {
    const late = streams >= 2000 ? 40 * index * (streams / 2000) : 0;
    return measurement(`scale/${streams}`, name, {
      chunks_per_second: streams * 20,
      ...(name === 'direct' ? {} : { cpu_us_per_chunk: (20 + 12 * index) / (1 + Math.log10(streams)) }),
      delay_p50_ms: 0.1 + 0.05 * index + late / 4,
      delay_p99_ms: 0.4 + 0.3 * index + late,
      cpu_cores: name === 'direct' ? 0 : Math.min(1, streams / 2000),
      engine_cores: Math.min(0.5, streams / 5000),
      generator_cores: Math.min(0.6, streams / 4000),
    });
  }),
);

const processPoints = [1, 2].map((count) =>
  measurement('processes/whole', `${count} ${count === 1 ? 'process' : 'processes'}`, {
    requests_per_second: 9000 + 900 * count,
    cpu_us_per_request: 60,
    cpu_cores: 0.6 * count,
    engine_cores: 0.4,
    generator_cores: 0.5,
  }),
);

const measurements = [...rows.flatMap(ofRow), ...scalePoints, ...processPoints];

export const sampleResult: ResultFile = {
  started: '2026-01-02T03:04:05.000Z',
  minutes: 1,
  machine: { processor: 'Sample(R) Processor', cores: 2, memory_gb: 8, node: 'v20.20.2' },
  options: {
    full: false,
    peers: ['all'],
    only: [],
    subjects: [],
    rounds: 3,
    services: false,
    scale: true,
    scenarios: true,
    charts: true,
    files: [],
    json: undefined,
    rows: undefined,
    micro: false,
    profile: false,
    help: false,
  },
  subjects: rows.map(({ name }) => ({
    name,
    what: name,
    ...(name === 'vllm-router' ? { version: '0.1.16' } : {}),
  })),
  missing: {},
  measurements,
  routes: [],
  scale: scaleOf(measurements, 2),
  bounds: [],
};

const routingRow = (workload: string, subject: string, [hitRate, p50, p99]: [number, number, number]) => ({
  workload,
  subject,
  hitRate,
  p50,
  p99,
  imbalance: 1.1,
  requests: 100,
  failures: 0,
});

export const sampleRouting: RoutingResult = {
  started: sampleResult.started,
  machine: sampleResult.machine,
  simulated: false,
  seconds: 40,
  replicas: 4,
  slowed: 1,
  engine: usualEngine,
  subjects: [{ name: 'smg', what: 'smg, cache_aware', version: '1.13.0' }],
  rows: [
    routingRow('multi-turn', 'Sluice, least-busy', [0.569, 159, 700]),
    routingRow('multi-turn', 'Sluice, prefix', [0.877, 28, 79]),
    routingRow('multi-turn', 'prefix, 3 gateways', [0.8, 30, 90]),
    routingRow('multi-turn', 'smg, cache_aware', [0.872, 29, 88]),
    routingRow('multi-turn', 'oracle', [0.88, 28, 72]),
    routingRow('hot prefix', 'Sluice, least-busy', [0.992, 5, 11]),
    routingRow('hot prefix', 'Sluice, prefix', [0.992, 0.4, 11]),
    routingRow('hot prefix', 'smg, cache_aware', [0.99, 9, 1200]),
    routingRow('hot prefix', 'oracle', [0.993, 6, 25]),
  ],
  choice: [],
};

const fleetSecond = (second: number): Second => ({
  ...noCounts(),
  second,
  arrived: 400,
  started: 390,
  completed: 380,
  refusedByRate: 10,
  streaming: 4000,
  queued: 20,
  slotless: second,
  waitP50: 0.5,
  waitP99: 20,
  decisionP99: 0.1,
  redis: [0.3, 0.6],
  redisCalls: 900,
  kafkaEvents: [100, 280],
  kafkaLag: 90,
  inserts: 4,
  rows: 380,
});

export const sampleFleet: FleetResult = {
  started: sampleResult.started,
  machine: sampleResult.machine,
  plan: {
    ...usualPlan,
    requestsPerSecond: 400,
    seconds: 10,
    gatewayDies: 4,
    failover: { at: 7, seconds: 2 },
  },
  scale: 1,
  took: 1,
  replicas: 20,
  counts: noCounts(),
  inside: 0,
  largest: { rate: 40, primary: 1, kafkaPartition: 1 },
  seconds: Array.from({ length: 10 }, (_, index) => fleetSecond(index + 1)),
};
