/** Turns the measurements of the scale run into points, and finds where the curve bends and why. */
import type { Measurement } from '../results.ts';
import { tokensPerSecond } from './plan.ts';

export interface Point {
  readonly subject: string;
  readonly streams: number;
  readonly tokensPerSecond: number;
  /** Of the tokens that were due, how many arrived. */
  readonly delivered: number;
  readonly cpuPerToken: number | undefined;
  /** From the engine's write to the client's read. */
  readonly delayP50: number;
  readonly delayP99: number;
  /** The same without what the engine, the kernel and the load generator need by themselves. */
  readonly addedP50: number | undefined;
  readonly addedP99: number | undefined;
  readonly residentMegabytes: number | undefined;
  readonly cores: Cores;
}

export interface Cores {
  /** Zero for the engine itself. */
  readonly gateway: number;
  readonly engine: number;
  readonly generator: number;
  /** Everything else on the machine. */
  readonly other: number;
}

export interface Bend {
  readonly subject: string;
  readonly streams: number;
  readonly why: string;
}

export interface Throughput {
  readonly processes: number;
  readonly load: string;
  readonly requestsPerSecond: number;
  readonly chunksPerSecond: number;
  readonly cpuPerRequest: number;
  readonly cores: Cores;
  readonly limitedBy: string;
}

/** Beyond it a reader sees tokens in bursts; below, a token is on time. */
const lateMilliseconds = 20;
const enoughDelivered = 0.98;
/** A process that does everything in one thread has no more to give. */
const busyCore = 0.9;
/** Of all cores: the rest goes to interrupts and to whatever else runs. */
const busyMachine = 0.92;

export const pointsOf = (measurements: readonly Measurement[]): Point[] => {
  const points = measurements
    .filter(({ scenario, metrics }) => scenario.startsWith('scale/') && metrics.delay_p50_ms !== undefined)
    .map(({ scenario, subject, metrics }) => {
      const streams = Number(scenario.slice('scale/'.length));
      const rate = metrics.chunks_per_second ?? 0;
      return {
        subject,
        streams,
        tokensPerSecond: rate,
        delivered: rate / (streams * tokensPerSecond),
        cpuPerToken: metrics.cpu_us_per_chunk,
        delayP50: metrics.delay_p50_ms ?? 0,
        delayP99: metrics.delay_p99_ms ?? 0,
        residentMegabytes: metrics.rss_peak_mb,
        cores: coresOf(metrics),
      };
    });
  return points.map((point) => {
    const direct = points.find(({ subject, streams }) => subject === 'direct' && streams === point.streams);
    const over = (name: 'delayP50' | 'delayP99'): number | undefined =>
      direct === undefined || point.subject === 'direct' ? undefined : point[name] - direct[name];
    return { ...point, addedP50: over('delayP50'), addedP99: over('delayP99') };
  });
};

const coresOf = (metrics: Readonly<Record<string, number>>): Cores => ({
  gateway: metrics.cpu_cores ?? 0,
  engine: metrics.engine_cores ?? 0,
  generator: metrics.generator_cores ?? 0,
  other: metrics.other_cores ?? 0,
});

/** The first point of each subject at which tokens come late or not at all. */
export const bendsOf = (points: readonly Point[], machineCores: number): Bend[] => {
  const subjects = [...new Set(points.map(({ subject }) => subject))];
  return subjects.flatMap((subject) => {
    const bend = points
      .filter((point) => point.subject === subject)
      .toSorted((one, other) => one.streams - other.streams)
      .find(({ delayP99, delivered }) => delayP99 > lateMilliseconds || delivered < enoughDelivered);
    return bend === undefined
      ? []
      : [{ subject, streams: bend.streams, why: bottleneck(bend.cores, machineCores) }];
  });
};

export const throughputOf = (measurements: readonly Measurement[], machineCores: number): Throughput[] =>
  measurements
    .filter(({ scenario }) => scenario.startsWith('processes/'))
    .map(({ scenario, subject, metrics }) => {
      const cores = coresOf(metrics);
      return {
        processes: Number.parseInt(subject, 10),
        load: scenario.slice('processes/'.length),
        requestsPerSecond: metrics.requests_per_second ?? 0,
        chunksPerSecond: metrics.chunks_per_second ?? 0,
        cpuPerRequest: metrics.cpu_us_per_request ?? 0,
        cores,
        limitedBy: bottleneck(cores, machineCores),
      };
    });

/** Which process, or the machine, had no CPU time left. */
export const bottleneck = (cores: Cores, machineCores: number): string => {
  const { gateway, engine, generator, other } = cores;
  const used = gateway + engine + generator + other;
  const shares = `gateway ${gateway.toFixed(2)}, engine ${engine.toFixed(2)}, load generator ${generator.toFixed(2)}, others ${other.toFixed(2)} cores`;
  if (used >= busyMachine * machineCores) return `all cores are busy (${machineCores}): ${shares}`;
  if (generator >= busyCore) return `the load generator is the bottleneck: ${shares}`;
  if (engine >= busyCore) return `the engine is the bottleneck: ${shares}`;
  if (gateway >= busyCore) return `the gateway is the bottleneck: ${shares}`;
  return `no process was busy all the time: ${shares}`;
};
