/** `npm run chaos -- --minutes 2 --seed 7`: exits with 1 when usage is lost or counted twice. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { clickHouseMissing } from '../services/clickhouse.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { runChaos } from './chaos.ts';

const { values } = readCommandLine({
  command: 'npm run chaos',
  summary: 'Kills processes under load and then compares every answer with its usage event.',
  options: {
    minutes: { value: 'N', help: 'how long', default: '2' },
    seed: { value: 'N', help: 'repeats a run', default: String(Date.now() % 1_000_000) },
    gateways: { value: 'N', help: 'gateways', default: '2' },
    clients: { value: 'N', help: 'clients at once', default: '16' },
    kills: { value: 'N', help: 'processes to kill', default: '20' },
    embedded: { help: 'without Kafka and ClickHouse' },
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
