/** The subscriptions: how often each sends, what it is allowed, and where its limits and events are. */
import { type LimitKind, limitKinds } from '../../schemas/limits.ts';
import { kafkajs } from '../../src/adapters/events/kafka-corrections.ts';
import { partitionOf, partitions } from '../../src/adapters/redis-partitions.ts';
import type { Limits } from '../../src/ports/admission.ts';
import { Random } from '../routing/random.ts';
import type { Plan } from './plan.ts';

export interface Subscription {
  readonly index: number;
  readonly name: string;
  /** Requests per second. */
  readonly rate: number;
  readonly limits: Limits;
  readonly model: number;
  /** Of limits in Redis, the primary that has it, and of events in Kafka. */
  readonly partition: number;
  readonly primary: number;
  readonly kafkaPartition: number;
}

/** Primaries have partitions in a row. */
export const primaryOf = (partition: number, primaries: number): number =>
  Math.floor((partition * primaries) / partitions.length);

/** Room above the mean that a limit leaves for bursts. */
const headroom = 1.5;

export const createSubscriptions = (plan: Plan): readonly Subscription[] => {
  const random = new Random(plan.seed * 7919);
  const weights = Array.from({ length: plan.subscriptions }, (_, index) => (index + 1) ** -plan.skew);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const kafkaPartitionOf = kafkaPartitioner(plan.kafkaPartitions);
  return weights.map((weight, index) => {
    const name = `sub_${Math.floor(random.unit() * 36 ** 10)
      .toString(36)
      .padStart(24, '0')}`;
    const rate = (plan.requestsPerSecond * weight) / total;
    const partition = partitionOf(name);
    return {
      index,
      name,
      rate,
      limits: limitsOf(plan, rate, random.unit()),
      model: random.between(0, plan.models - 1),
      partition,
      primary: primaryOf(partition, plan.primaries),
      kafkaPartition: kafkaPartitionOf(name),
    };
  });
};

const limitsOf = (
  { tokens, tokensPerSecond, overRate, overConcurrency }: Plan,
  rate: number,
  draw: number,
): Limits => {
  const perMinute = rate * 60;
  const running = (rate * tokens) / tokensPerSecond;
  // Small numbers vary more: four standard deviations.
  const enough = (mean: number, kind: LimitKind): number =>
    Math.min(limitKinds[kind].most, Math.ceil(mean * headroom + 4 * Math.sqrt(mean) + 1));
  return {
    requests_per_minute:
      draw < overRate ? Math.max(1, Math.round(perMinute / 2)) : enough(perMinute, 'requests_per_minute'),
    concurrency:
      draw > 1 - overConcurrency ? Math.max(1, Math.round(running / 2)) : enough(running, 'concurrency'),
  };
};

/** As the product's producer does it. */
const kafkaPartitioner = (count: number): ((key: string) => number) => {
  const partition = kafkajs.Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 1,
    replicas: [1],
    isr: [1],
  }));
  return (key) => partition({ topic: 'sluice.usage', partitionMetadata, message: { key, value: null } });
};

/** Draws subscriptions by their rates: Walker's alias method, O(1). */
export const sampler = (subscriptions: readonly Subscription[]): ((random: Random) => Subscription) => {
  const count = subscriptions.length;
  const total = subscriptions.reduce((sum, { rate }) => sum + rate, 0);
  const chance = Float64Array.from(subscriptions, ({ rate }) => (rate * count) / total);
  const alias = new Uint32Array(count);
  const small: number[] = [];
  const large: number[] = [];
  for (const [index, value] of chance.entries()) (value < 1 ? small : large).push(index);
  while (small.length > 0 && large.length > 0) {
    const [less, more] = [small.pop() ?? 0, large.at(-1) ?? 0];
    alias[less] = more;
    chance[more] = (chance[more] ?? 0) - (1 - (chance[less] ?? 0));
    if ((chance[more] ?? 0) < 1) small.push(large.pop() ?? 0);
  }
  // Rounding leaves some on either side.
  for (const index of [...small, ...large]) chance[index] = 1;
  return (random) => {
    const index = Math.floor(random.unit() * count);
    const chosen = random.unit() < (chance[index] ?? 1) ? index : (alias[index] ?? index);
    const found = subscriptions[chosen];
    if (found === undefined) throw new Error('There is no subscription');
    return found;
  };
};
