/** The JSON file of a simulated fleet, and the figures that it is about. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ResultFile } from '../result-file.ts';
import type { Outcomes } from './fleet.ts';
import type { Plan } from './plan.ts';
import type { Subscription } from './population.ts';
import type { Counts, Second } from './timeline.ts';

export interface FleetResult extends Pick<ResultFile, 'started' | 'machine'> {
  readonly plan: Plan;
  readonly scale: number;
  /** Seconds that the simulation took. */
  readonly took: number;
  readonly replicas: number;
  readonly counts: Counts;
  readonly inside: number;
  /** The subscription that sends most. */
  readonly largest: Pick<Subscription, 'rate' | 'primary' | 'kafkaPartition'>;
  readonly seconds: readonly Second[];
}

export const resultOf = (
  plan: Plan,
  { counts, inside, replicas, seconds, subscriptions: [first] }: Outcomes,
  run: Pick<FleetResult, 'started' | 'machine' | 'scale' | 'took'>,
): FleetResult => {
  if (first === undefined) throw new Error('There is no subscription');
  const { rate, primary, kafkaPartition } = first;
  return { ...run, plan, replicas, counts, inside, largest: { rate, primary, kafkaPartition }, seconds };
};

export const writeFleet = (result: FleetResult, file: string): void => {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`);
};

export const readFleet = (file: string): FleetResult => {
  const result = JSON.parse(readFileSync(file, 'utf8')) as Partial<FleetResult>;
  if (result.seconds === undefined || result.plan === undefined || result.largest === undefined)
    throw new Error(`${file} is not a result of this simulation`);
  return result as FleetResult;
};

/** Parts of a run: before anything fails, after a gateway died, while Redis is replaced, and after that. */
export const spansOf = ({ plan, seconds }: Pick<FleetResult, 'plan' | 'seconds'>) => {
  const { gatewayDies, failover } = plan;
  // Windows are full after a minute.
  const settled = Math.min(61, Math.ceil(plan.seconds / 2));
  const first = Math.min(gatewayDies ?? plan.seconds, failover?.at ?? plan.seconds);
  const between = (from: number, to: number) =>
    seconds.filter(({ second }) => second > Math.floor(from) && second <= Math.ceil(to));
  const spans = [{ name: 'steady', seconds: between(settled, first) }];
  if (gatewayDies !== undefined)
    spans.push({ name: 'a gateway dies: 15 s', seconds: between(gatewayDies, gatewayDies + 15) });
  if (failover !== undefined) {
    const end = failover.at + failover.seconds;
    spans.push({ name: `Redis fails over: ${failover.seconds} s`, seconds: between(failover.at, end) });
    spans.push({ name: 'the 15 s after that', seconds: between(end, end + 15) });
  }
  return spans.filter((span) => span.seconds.length > 0);
};
