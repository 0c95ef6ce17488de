/** `npm run exactness`: exits with 1 when a limit or a budget is exceeded, or counts other than what was billed. */
import { orEnd, readCommandLine } from '../command-line.ts';
import { Progress } from '../progress.ts';
import { redisMissing } from '../services/redis.ts';
import { type Disturbance, disturbances, type Outcome, run, secondsOfRun } from './run.ts';
import { limits } from './stack.ts';

const { values } = readCommandLine({
  command: 'npm run exactness',
  summary:
    'Exhausts limits and a budget through several gateways while gateways are killed or Redis is unavailable.',
  options: {
    gateways: { value: 'LIST', help: 'gateways of each run, separated by commas', default: '1,2,4' },
  },
});
const counts = values.gateways.split(',').map(Number);
orEnd('npm run exactness', () => {
  if (!counts.every((count) => Number.isInteger(count) && count >= 1 && count <= 16))
    throw new Error('--gateways takes whole numbers from 1 to 16, separated by commas');
});

process.env.SLUICE_TEST_SERVICES = '1';
const missing = redisMissing({ own: true });
if (missing !== undefined) {
  process.stderr.write(`npm run exactness: ${missing}\n`);
  process.exit(1);
}

const dollars = (nanodollars: number): string => (nanodollars / 1e9).toFixed(9);
const outcomes: Outcome[] = [];
const progress = new Progress();
progress.plan(counts.length * disturbances.length * secondsOfRun);
for (const gateways of counts)
  for (const disturbance of disturbances as readonly Disturbance[]) {
    progress.begin(`${gateways} gateways, ${disturbance}`, secondsOfRun);
    const outcome = await run(gateways, disturbance);
    outcomes.push(outcome);
    const { problems, statuses } = outcome;
    progress.finish(secondsOfRun);
    progress.say(
      `${gateways} gateways, ${disturbance}: ${problems.join('; ') || 'good'} ${JSON.stringify(statuses)}`,
    );
  }
progress.end();

const rows = outcomes.map(({ gateways, disturbance, statuses, requests, tokens, nanodollars, counted }) => [
  ...[
    gateways,
    disturbance,
    statuses[200] ?? 0,
    statuses[429] ?? 0,
    (statuses[503] ?? 0) + (statuses[0] ?? 0),
  ],
  ...[requests, tokens, dollars(nanodollars), dollars(counted)],
]);
const head = [
  ...['Gateways', 'What fails', '200', '429', '503 or lost', `Requests of ${limits.requests}`],
  ...[`Tokens of ${limits.tokens}`, `Dollars of ${dollars(limits.nanodollars)}`, 'Counted by the budget'],
];
const line = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;
process.stdout.write(
  `${[line(head), line(head.map((_, column) => (column === 1 ? '---' : '--:'))), ...rows.map(line)].join('\n')}\n`,
);
process.exitCode = outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1;
