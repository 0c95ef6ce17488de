/** What is simulated: the size of the fleet, its load, its failures, and the measured coefficients. */
import { partitions } from '../../src/adapters/redis-partitions.ts';

/** Measured, or assumed: docs/capacity.md says which, and by which command. */
export interface Coefficients {
  /** CPU microseconds of a gateway process per request, and per token that arrives alone. */
  readonly requestUs: number;
  readonly tokenUs: number;
  /** Microseconds of a Redis primary per command, reading and writing included. */
  readonly commandUs: number;
  /** Commands of a decision, of a release, and of a renewal: for each subscription in it, and for each lease. */
  readonly decision: number;
  readonly release: number;
  readonly renewedGate: number;
  readonly renewedLease: number;
  /** Commands of one process's heartbeats in one partition. */
  readonly heartbeat: number;
  /** Bytes of a usage event on the way to Kafka. */
  readonly eventBytes: number;
  /** Events per second that a consumer moves from Kafka to ClickHouse. */
  readonly consumerRate: number;
}

export interface Plan {
  readonly seed: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** Tokens of a response: this many on average, evenly from half to one and a half times as many. */
  readonly tokens: number;
  readonly tokensPerSecond: number;
  readonly subscriptions: number;
  /** The n-th subscription sends in proportion to n to the power of minus this. */
  readonly skew: number;
  /** Part of the subscriptions that send twice what their rate allows, and part that run twice what their concurrency allows. */
  readonly overRate: number;
  readonly overConcurrency: number;
  readonly gateways: number;
  readonly processes: number;
  /** Gateways are divided into so many groups, each with engines of its own. */
  readonly groups: number;
  readonly models: number;
  /** Calls that a replica runs at once. */
  readonly replicaSlots: number;
  /** Part of the slots that is in use at the expected load. */
  readonly engineLoad: number;
  /** Primaries of the Redis Cluster. */
  readonly primaries: number;
  readonly kafkaPartitions: number;
  readonly consumers: number;
  /** Seconds; undefined: it does not happen. */
  readonly gatewayDies: number | undefined;
  readonly failover: { readonly at: number; readonly seconds: number } | undefined;
  readonly coefficients: Coefficients;
}

export const measured: Coefficients = {
  requestUs: 278,
  tokenUs: 28,
  commandUs: 1.5,
  decision: 17,
  release: 10,
  renewedGate: 8.8,
  renewedLease: 1,
  heartbeat: 23,
  eventBytes: 640,
  consumerRate: 23_400,
};

/** 10⁵ requests per second of 10 seconds each: 10⁶ streams. */
export const usualPlan: Plan = {
  seed: 1,
  seconds: 110,
  requestsPerSecond: 100_000,
  tokens: 200,
  tokensPerSecond: 20,
  subscriptions: 100_000,
  skew: 1,
  overRate: 0.05,
  overConcurrency: 0.05,
  gateways: 40,
  processes: 32,
  groups: 20,
  models: 10,
  replicaSlots: 256,
  engineLoad: 0.85,
  primaries: 32,
  kafkaPartitions: 24,
  consumers: 12,
  gatewayDies: 66,
  failover: { at: 85, seconds: 5 },
  coefficients: measured,
};

/** The same load on each process, primary, partition and engine, with so many times fewer of them. */
export const scaledDown = (plan: Plan, factor: number): Plan => {
  const part = (count: number, least = 1): number => Math.max(least, Math.round(count / factor));
  const groups = part(plan.groups);
  return {
    ...plan,
    requestsPerSecond: plan.requestsPerSecond / factor,
    subscriptions: part(plan.subscriptions, 10),
    groups,
    gateways: groups * Math.round(plan.gateways / plan.groups),
    primaries: part(plan.primaries),
    kafkaPartitions: part(plan.kafkaPartitions),
    consumers: part(plan.consumers),
  };
};

export const checkPlan = (plan: Plan): void => {
  const whole: (keyof Plan)[] = [
    'seconds',
    'subscriptions',
    'gateways',
    'processes',
    'groups',
    'models',
    'primaries',
    'kafkaPartitions',
    'consumers',
  ];
  for (const name of whole)
    if (!Number.isSafeInteger(plan[name]) || Number(plan[name]) < 1)
      throw new Error(`${name} must be a whole number from 1`);
  if (!(plan.requestsPerSecond > 0)) throw new Error('requestsPerSecond must be a number above 0');
  if (plan.gateways % plan.groups !== 0) throw new Error('gateways must be a multiple of groups');
  if (plan.primaries > partitions.length)
    throw new Error(`primaries must be at most ${partitions.length}, the partitions of limits`);
  const slots = plan.replicaSlots / ((plan.gateways / plan.groups) * plan.processes);
  if (slots < 1) throw new Error(`a group must have at most ${plan.replicaSlots} processes: a slot for each`);
};
