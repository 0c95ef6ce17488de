/** `npm run chaos -- --minutes 2 --seed 7`: exits with 1 when usage is lost or counted twice. */
import { parseArgs } from 'node:util';
import { table } from '../../src/cli/output.ts';
import { clickHouseMissing } from '../services/clickhouse.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { runChaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    gateways: { type: 'string', default: '2' },
    clients: { type: 'string', default: '16' },
    kills: { type: 'string', default: '20' },
    /** Without Kafka and ClickHouse. */
    embedded: { type: 'boolean', default: false },
  },
});

const missing = values.embedded
  ? undefined
  : (kafkaMissing({ own: true }) ?? clickHouseMissing({ own: true }));
if (missing !== undefined) process.stderr.write(`${missing}; going on with the embedded stores\n`);

const { verdict, kills, report, good } = await runChaos({
  seed: Number(values.seed),
  milliseconds: Number(values.minutes) * 60_000,
  gateways: Number(values.gateways),
  clients: Number(values.clients),
  kills: Number(values.kills),
  services: !values.embedded && missing === undefined,
  pause: [500, 4_000],
  absence: [0, 3_000],
  settle: 120_000,
  say: (line) => process.stderr.write(`${line}\n`),
});

const { missing: lost, duplicated, wrong, billedFailures, ...counts } = verdict;
const rows: (readonly [string, string | number])[] = [
  ['seed', values.seed],
  ['kills', [...kills.values()].reduce((sum, count) => sum + count, 0)],
  ...[...kills].sort().map(([name, count]) => [`  ${name}`, count] as const),
  ...Object.entries(counts),
  ['missing', lost.length],
  ['duplicated', duplicated.length],
  ['wrong quantities', wrong.length],
  ['billed though failed', billedFailures.length],
  ...(report.kafka === undefined
    ? []
    : ([['copies in Kafka, counted once', report.kafka.repeated]] as const)),
];
process.stdout.write(
  `${table(
    ['WHAT', 'COUNT'],
    rows.map(([what, count]) => [what, String(count)]),
  )}\n`,
);
if (!good)
  process.stdout.write(`${JSON.stringify({ lost, duplicated, wrong, billedFailures, report }, null, 1)}\n`);
process.exitCode = good ? 0 : 1;
