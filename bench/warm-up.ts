/** Loads a subject until its CPU time per request is the steady one. */
import type { Load } from './load.ts';
import { measureOnce, type Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

/**
 * Responses before a subject counts as warm. Measured in blocks of 5,000: Sluice took 225, 90, 59, 57, 94, 55, 54 µs,
 * then 47 to 54 from the eighth block on; the floor 177, 105, 42, then 38 to 44. Compiler threads use a tenth of the
 * CPU time up to 35,000 responses and two percent after 40,000.
 */
const warmRequests = [50_000, 2_500];
/** A slow gateway never serves so many; it has no more than this. */
const longestWarmUp = 25;
/** Seconds, for the plan. */
export const warmUpSeconds = 14;

const load = { kind: 'closed', clients: 64, warmSeconds: 0 } as const;
const warmUps: readonly Load[] = [
  { ...load, stream: false, knobs: { tokens: 64 }, windowSeconds: 1 },
  { ...load, stream: true, knobs: { tokens: 200 }, windowSeconds: 0.5 },
];

/** Also until its CPU time stops falling: on a busy machine, code is compiled late. */
export const warmUp = async (stage: Stage, subject: Subject): Promise<void> => {
  const best = warmUps.map(() => Number.POSITIVE_INFINITY);
  const served = warmUps.map(() => 0);
  const isServed = (): boolean => served.every((count, index) => count >= (warmRequests[index] ?? 0));
  const until = performance.now() + longestWarmUp * 1000;
  let idle = 0;
  while (performance.now() < until && (idle < 2 || !isServed())) {
    let cheaper = false;
    for (const [index, each] of warmUps.entries()) {
      const outcome = await measureOnce(stage, subject, each);
      const metrics = 'result' in outcome ? outcome.result.metrics : {};
      const cost = metrics.cpu_us_per_request ?? 0;
      served[index] = (served[index] ?? 0) + (metrics.requests ?? 0);
      if (cost < (best[index] ?? 0) * 0.93) cheaper = true;
      best[index] = Math.min(best[index] ?? 0, cost);
    }
    idle = cheaper ? 0 : idle + 1;
  }
};
