/** `npm run chaos`: exits with 1 when usage is lost or counted twice; with `--cluster`, when anything is. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { Progress } from '../progress.ts';
import { clickHouseMissing } from '../services/clickhouse.ts';
import { kafkaMissing } from '../services/kafka.ts';
import { runChaos } from './chaos.ts';
import { reportOf } from './cluster/report.ts';
import { runCluster } from './cluster/run.ts';
import { clusterMissing } from './cluster/stack.ts';

const { values } = readCommandLine({
  command: 'npm run chaos',
  summary: 'Kills processes under load, then compares every response with its usage event.',
  options: {
    cluster: { help: 'the whole topology; processes are also stopped and continued' },
    minutes: {
      value: 'N',
      help: 'length of the load (2; 10 with --cluster)',
      from: 0.1,
      to: 10_000,
      fractions: true,
    },
    seed: { value: 'N', help: 'repeats a run', from: 0, to: 1e9, default: Date.now() % 1_000_000 },
    gateways: { value: 'N', help: 'gateways', from: 1, to: 16, default: 2 },
    clients: { value: 'N', help: 'concurrent clients', from: 1, to: 1000, default: 16 },
    kills: { value: 'N', help: 'processes to kill at least', from: 0, to: 100_000, default: 20 },
    rate: { value: 'N', help: 'operations per second, with --cluster', from: 1, to: 1000, default: 3 },
    embedded: { help: 'without Kafka and ClickHouse' },
    markdown: { help: 'tables in Markdown, with --cluster' },
  },
});

const onOne = async (minutes: number): Promise<boolean> => {
  const missing = values.embedded
    ? undefined
    : (kafkaMissing({ own: true }) ?? clickHouseMissing({ own: true }));
  if (missing !== undefined) process.stderr.write(`${missing}; using the embedded stores\n`);

  const progress = new Progress();
  progress.plan(minutes * 60);
  progress.begin('starting', minutes * 60);
  const { verdict, kills, report, good } = await runChaos({
    seed: values.seed,
    milliseconds: minutes * 60_000,
    gateways: values.gateways,
    clients: values.clients,
    kills: values.kills,
    services: !values.embedded && missing === undefined,
    pause: [500, 4_000],
    absence: [0, 3_000],
    settle: 120_000,
    say: (line) => progress.note(line),
  });
  progress.end();

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
  return good;
};

const onCluster = async (minutes: number): Promise<boolean> => {
  const say = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const missing = clusterMissing();
  if (missing !== undefined) {
    say(`npm run chaos: ${missing}`);
    return false;
  }
  const { seed, rate } = values;
  say(`seed ${seed}`);
  const outcome = await runCluster({
    ...{ seed, say, minutes, rate },
    pause: [1_000, 6_000],
    away: [500, 8_000],
    atOnce: 2,
    patience: 180_000,
    settle: 300_000,
  });
  process.stdout.write(`${reportOf(outcome, values.markdown)}\n`);
  const { verdict, problems, failures } = outcome;
  say(`operations that failed: ${JSON.stringify(Object.fromEntries(failures), null, 1)}`);
  if (problems.length > 0) process.stdout.write(`${JSON.stringify({ problems, verdict }, null, 1)}\n`);
  return problems.length === 0;
};

const { cluster, minutes = cluster ? 10 : 2 } = values;
process.exitCode = (await (cluster ? onCluster(minutes) : onOne(minutes))) ? 0 : 1;
