/** Prints a simulated fleet as tables. */
import { type FleetResult, spansOf } from './result-file.ts';
import type { Second } from './timeline.ts';

type Column = readonly [title: string, value: (seconds: readonly Second[]) => string];

const mean = (seconds: readonly Second[], pick: (second: Second) => number): number =>
  seconds.reduce((sum, second) => sum + pick(second), 0) / seconds.length;
const most = (seconds: readonly Second[], pick: (second: Second) => number): number =>
  Math.max(...seconds.map(pick));

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const part = (value: number): string => `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`;
const time = (value: number): string => (value < 10 ? `${value.toFixed(2)} ms` : `${whole(value)} ms`);

const refusedPart =
  (name: 'refusedByRate' | 'refusedByQueue' | 'refusedByOutage' | 'refusedByEngines') =>
  (seconds: readonly Second[]): string =>
    part(mean(seconds, (second) => second[name]) / mean(seconds, ({ arrived }) => arrived));

const columns: readonly Column[] = [
  ['arrived per second', (all) => whole(mean(all, ({ arrived }) => arrived))],
  ['streams, most', (all) => whole(most(all, ({ streaming }) => streaming))],
  ['429, window full', refusedPart('refusedByRate')],
  ['429, queue full or too slow', refusedPart('refusedByQueue')],
  ['503, no portion of a limit', refusedPart('refusedByOutage')],
  ['503, no engine slot', refusedPart('refusedByEngines')],
  ['broken streams', (all) => whole(all.reduce((sum, { broken }) => sum + broken, 0))],
  ['waiting at gates, most', (all) => whole(most(all, ({ queued }) => queued))],
  ['waiting for an engine slot, most', (all) => whole(most(all, ({ slotless }) => slotless))],
  ['arrival to engine, p50', (all) => time(mean(all, ({ waitP50 }) => waitP50))],
  ['arrival to engine, p99, worst second', (all) => time(most(all, ({ waitP99 }) => waitP99))],
  ['decision of Redis, p99, worst second', (all) => time(most(all, ({ decisionP99 }) => decisionP99))],
  ['Redis calls per second', (all) => whole(mean(all, ({ redisCalls }) => redisCalls))],
  [
    'Redis, mean primary',
    (all) => part(mean(all, ({ redis }) => redis.reduce((a, b) => a + b, 0) / redis.length)),
  ],
  ['Redis, hottest primary', (all) => part(Math.max(...hottest(all)))],
  [
    'Kafka events per second',
    (all) => whole(mean(all, ({ kafkaEvents }) => kafkaEvents.reduce((a, b) => a + b, 0))),
  ],
  [
    'Kafka, hottest partition',
    (all) => `${whole(most(all, ({ kafkaEvents }) => Math.max(...kafkaEvents)))}/s`,
  ],
  ['events not in the ledger yet, most', (all) => whole(most(all, ({ kafkaLag }) => kafkaLag))],
  ['inserts per second', (all) => whole(mean(all, ({ inserts }) => inserts))],
  ['rows per insert', (all) => whole(mean(all, ({ rows }) => rows) / mean(all, ({ inserts }) => inserts))],
];

/** By primary: its mean load. */
const hottest = (seconds: readonly Second[]): number[] =>
  (seconds[0]?.redis ?? []).map((_, primary) => mean(seconds, ({ redis }) => redis[primary] ?? 0));

export const tableOf = (result: FleetResult): string => {
  const spans = spansOf(result);
  return [
    `| | ${spans.map(({ name }) => name).join(' | ')} |`,
    `|---|${spans.map(() => '--:').join('|')}|`,
    ...columns.map(
      ([title, value]) => `| ${title} | ${spans.map(({ seconds }) => value(seconds)).join(' | ')} |`,
    ),
  ].join('\n');
};

export const printFleet = (result: FleetResult): void => {
  const { plan, counts, inside, largest, replicas, took, scale } = result;
  const processes = plan.gateways * plan.processes;
  console.log(
    `\n${whole(plan.requestsPerSecond)} requests/s of ${whole(plan.subscriptions)} subscriptions (the largest: ${whole(largest.rate)}/s, on primary ${largest.primary}, Kafka partition ${largest.kafkaPartition})`,
  );
  console.log(
    `${plan.gateways} gateways × ${plan.processes} processes = ${processes}; ${replicas} engine replicas; ${plan.primaries} Redis primaries; ${plan.kafkaPartitions} Kafka partitions, ${plan.consumers} consumers`,
  );
  console.log(
    `${plan.seconds} s simulated in ${took.toFixed(0)} s, seed ${plan.seed}${scale === 1 ? ', full size' : `, 1/${scale} of the full size`}\n`,
  );
  console.log(tableOf(result));
  const ended = Object.entries(counts).filter(([name]) => name !== 'arrived' && name !== 'started');
  console.log(
    `\n${whole(counts.arrived)} arrived = ${ended.map(([name, count]) => `${whole(count)} ${name}`).join(' + ')} + ${whole(inside)} inside`,
  );
};
