/** The command line of `npm run bench:routing`. */
import { parseArgs } from 'node:util';
import { workloads } from './workloads.ts';

export const usage = `npm run bench:routing -- [options]
  --seconds n          of each workload and subject (20)
  --replicas n         engine doubles (4)
  --slowed n           everything but the gateways takes n times as long, for busy machines (1)
  --workload name      only this one; repeatable: ${workloads.map(({ name }) => name).join(', ')}
  --simulate           virtual time only: no sockets, no other routers
  --charts             draw docs/charts/routing-*.svg from this run
  --charts file.json   draw them from the results of an earlier run
  --out file           where to write the results
`;

export const readOptions = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '20' },
      replicas: { type: 'string', default: '4' },
      slowed: { type: 'string', default: '1' },
      workload: { type: 'string', multiple: true },
      simulate: { type: 'boolean', default: false },
      charts: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (positionals.length > 0 && !values.charts)
    throw new Error(`unexpected ${positionals[0]}: only --charts takes a file`);
  const unknown = values.workload?.find((name) => !workloads.some((each) => each.name === name));
  if (unknown !== undefined)
    throw new Error(
      `no such workload: ${unknown}, available: ${workloads.map(({ name }) => name).join(', ')}`,
    );
  return {
    ...values,
    seconds: numberOf('seconds', values.seconds, 1, 3600),
    replicas: numberOf('replicas', values.replicas, 1, 64),
    slowed: numberOf('slowed', values.slowed, 1, 100),
    files: positionals,
  };
};

const numberOf = (name: string, text: string, from: number, to: number): number => {
  const number = Number(text);
  if (number >= from && number <= to) return number;
  throw new Error(`--${name} takes ${from} to ${to}`);
};
