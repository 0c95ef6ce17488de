/** The points of the scale curve: numbers of streams, and numbers of gateway processes. */
import os from 'node:os';
import type { Load } from '../load.ts';
import { scenarios } from '../scenarios.ts';
import type { SubjectRow } from '../subjects.ts';

export const streamCounts: readonly number[] = [1, 10, 50, 200, 1000, 2000, 5000];
export const tokensPerSecond = 20;
/** Of the peers, those without features of their own: what a proxy and a router in Rust do at the same point. */
export const scaledPeers: readonly string[] = ['nginx', 'vllm-router'];

/** Few streams need a longer window for as many tokens; many need a longer ramp, so that they do not coincide. */
export const streamsLoad = (streams: number): Load => ({
  kind: 'paced',
  stream: true,
  stamped: true,
  knobs: { tokens: 1_000_000, rate: tokensPerSecond, stamp: 1 },
  streams,
  rampSeconds: Math.max(0.5, streams / 700),
  settleSeconds: 1,
  windowSeconds: streams < 50 ? 6 : 3,
});

/** 1, 2, 4 and so on, up to the number of cores. */
export const processCounts = (cores = os.availableParallelism()): number[] => {
  const counts = [1];
  for (let count = 2; count < cores; count *= 2) counts.push(count);
  return cores > 1 ? [...counts, cores] : counts;
};

/** Sluice in several processes on one port. */
export const withProcesses = (sluice: SubjectRow, count: number): SubjectRow => ({
  ...sluice,
  name: `${count} ${count === 1 ? 'process' : 'processes'}`,
  command: [...(sluice.command ?? []), `--processes=${count}`],
});

export interface ProcessLoad {
  readonly name: string;
  readonly load: Load;
}

/** At capacity, with enough clients to keep every process busy. */
export const processLoads = (processes: number): ProcessLoad[] =>
  scenarios(true)
    .filter(({ name }) => name === 'whole' || name === 'fast')
    .flatMap(({ name, load }) =>
      load.kind === 'closed' ? [{ name, load: { ...load, clients: 64 * processes } }] : [],
    );
