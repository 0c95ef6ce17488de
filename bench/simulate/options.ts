/** The command line of `npm run bench:simulate`. */
import { parseArgs } from 'node:util';
import { checkPlan, type Plan, scaledDown, usualPlan } from './plan.ts';

/** About a minute of CPU time; the full size takes about five. */
const usualScale = 4;

export const usage = `npm run bench:simulate -- [options]
  --requests n         per second (${usualPlan.requestsPerSecond})
  --seconds n          of virtual time (${usualPlan.seconds})
  --subscriptions n    (${usualPlan.subscriptions})
  --skew n             exponent of the Zipf distribution of subscriptions (${usualPlan.skew})
  --gateways n         (${usualPlan.gateways}), of --processes n each (${usualPlan.processes}), in --groups n with engines of their own (${usualPlan.groups})
  --primaries n        of the Redis Cluster (${usualPlan.primaries})
  --partitions n       of the Kafka topic (${usualPlan.kafkaPartitions}), read by --consumers n (${usualPlan.consumers})
  --gateway-dies n     second in which a gateway dies (${usualPlan.gatewayDies}); none: never
  --failover n         second in which a Redis primary dies (${usualPlan.failover?.at}); none: never
  --failover-seconds n until limits are shared again (${usualPlan.failover?.seconds})
  --scale n            n times fewer of everything, with the same load on each; one failure then hits a larger part (${usualScale})
  --seed n             (${usualPlan.seed})
  --json file          write all numbers there
  --charts             draw docs/charts/fleet-*.svg from this run
  --charts file.json   draw them from the results of an earlier run
`;

export interface SimulateOptions {
  readonly plan: Plan;
  readonly scale: number;
  readonly json: string | undefined;
  readonly charts: boolean;
  readonly files: readonly string[];
  readonly help: boolean;
}

export const readOptions = (args = process.argv.slice(2)): SimulateOptions => {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      requests: text,
      seconds: text,
      subscriptions: text,
      skew: text,
      gateways: text,
      processes: text,
      groups: text,
      primaries: text,
      partitions: text,
      consumers: text,
      'gateway-dies': text,
      failover: text,
      'failover-seconds': text,
      scale: text,
      seed: text,
      json: text,
      charts: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (positionals.length > 0 && !values.charts)
    throw new Error(`unexpected ${positionals[0]}: only --charts takes a file`);
  const number = (name: Exclude<keyof typeof values, 'charts' | 'help' | 'json'>, usual: number): number => {
    const value = values[name] === undefined ? usual : Number(values[name]);
    if (values[name] === '' || !Number.isFinite(value) || value < 0)
      throw new Error(`--${name} takes a number from 0`);
    return value;
  };
  const moment = (name: 'gateway-dies' | 'failover', usual: number | undefined): number | undefined =>
    values[name] === 'none' ? undefined : number(name, usual ?? 0);
  const failover = moment('failover', usualPlan.failover?.at);
  const scale = number('scale', usualScale);
  if (scale < 1) throw new Error('--scale takes a number from 1');
  const plan = scaledDown(
    {
      ...usualPlan,
      seed: number('seed', usualPlan.seed),
      seconds: number('seconds', usualPlan.seconds),
      requestsPerSecond: number('requests', usualPlan.requestsPerSecond),
      subscriptions: number('subscriptions', usualPlan.subscriptions),
      skew: number('skew', usualPlan.skew),
      gateways: number('gateways', usualPlan.gateways),
      processes: number('processes', usualPlan.processes),
      groups: number('groups', usualPlan.groups),
      primaries: number('primaries', usualPlan.primaries),
      kafkaPartitions: number('partitions', usualPlan.kafkaPartitions),
      consumers: number('consumers', usualPlan.consumers),
      gatewayDies: moment('gateway-dies', usualPlan.gatewayDies),
      failover:
        failover === undefined
          ? undefined
          : { at: failover, seconds: number('failover-seconds', usualPlan.failover?.seconds ?? 0) },
    },
    scale,
  );
  checkPlan(plan);
  return { plan, scale, json: values.json, charts: values.charts, files: positionals, help: values.help };
};
