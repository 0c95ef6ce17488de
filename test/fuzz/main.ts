/** `npm run fuzz -- --seed 7`: fuzzes a gateway, or `--url` with `--key`; exits with 1 on wrong responses. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { startFuzzGateway } from './gateway.ts';
import { runFuzz } from './run.ts';

const { values } = readCommandLine({
  command: 'npm run fuzz',
  summary: 'Sends random requests to every route and checks every response against the OpenAPI document.',
  options: {
    seed: { value: 'N', help: 'repeats a run', default: String(Date.now() % 1_000_000) },
    requests: { value: 'N', help: 'how many', default: '5000' },
    only: { value: 'N', help: 'number of one request out of a run, to send it alone' },
    concurrency: { value: 'N', help: 'requests at once', default: '8' },
    edge: { value: 'NAME', help: 'HTTP server of the gateway: uws or node', default: 'auto' },
    url: { value: 'URL', help: 'a gateway that runs already, ending in /v1' },
    key: { value: 'KEY', help: 'its key', default: '' },
  },
});

const own = values.url === undefined ? await startFuzzGateway({ SLUICE_EDGE: values.edge }) : undefined;
const seed = Number(values.seed);
process.stdout.write(`seed ${seed}\n`);
const { findings, counts, slowest } = await runFuzz({
  url: own?.url ?? values.url ?? '',
  key: own?.key ?? values.key,
  seed,
  requests: Number(values.requests),
  only: values.only === undefined ? undefined : Number(values.only),
  concurrency: Number(values.concurrency),
  patience: 60_000,
  maxFindings: 50,
});
const rows = [...counts].map(([operation, statuses]) => [
  operation,
  [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status}×${count}`)
    .join(' '),
]);
process.stdout.write(
  `${table(['OPERATION', 'ANSWERS'], rows)}\nslowest: ${slowest.operation}, ${slowest.milliseconds} ms\n`,
);
for (const { number, operation, status, problems, curl } of findings)
  process.stdout.write(
    `\n${operation} (--only ${number}) answered ${status}\n  ${problems.join('\n  ').slice(0, 1500)}\n  ${curl.slice(0, 4000)}\n`,
  );
await own?.stop();
process.exitCode = findings.length === 0 ? 0 : 1;
