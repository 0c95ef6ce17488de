/** `npm run exactness`: exits with 1 when a limit or a budget is exceeded, or counts other than what was billed. */
import { readCommandLine } from '../command-line.ts';
import { redisMissing } from '../services/redis.ts';
import { type Disturbance, disturbances, type Outcome, run } from './run.ts';
import { limits } from './stack.ts';

const { values } = readCommandLine({
  command: 'npm run exactness',
  summary:
    'Exhausts limits and a budget through several gateways, while gateways are killed or Redis is away.',
  options: {
    gateways: { value: 'LIST', help: 'how many', default: '1,2,4' },
  },
});

process.env.SLUICE_TEST_SERVICES = '1';
const missing = redisMissing({ own: true });
if (missing !== undefined) throw new Error(missing);

const dollars = (nanodollars: number): string => (nanodollars / 1e9).toFixed(9);
const outcomes: Outcome[] = [];
for (const gateways of values.gateways.split(',').map(Number))
  for (const disturbance of disturbances as readonly Disturbance[]) {
    const outcome = await run(gateways, disturbance);
    outcomes.push(outcome);
    const { problems, statuses } = outcome;
    process.stderr.write(
      `${gateways} gateways, ${disturbance}: ${problems.join('; ') || 'good'} ${JSON.stringify(statuses)}\n`,
    );
  }

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
