/** `npm run fuzz -- --seed 7`: fuzzes a gateway, or `--url` with `--key`; exits with 1 on wrong responses. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { Progress } from '../progress.ts';
import { startFuzzGateway } from './gateway.ts';
import { runFuzz } from './run.ts';

const { values } = readCommandLine({
  command: 'npm run fuzz',
  summary: 'Sends random requests to every route and checks every response against the OpenAPI document.',
  options: {
    seed: { value: 'N', help: 'repeats a run', from: 0, to: 1e9, default: Date.now() % 1_000_000 },
    requests: { value: 'N', help: 'requests to send', from: 1, to: 1e7, default: 5000 },
    only: { value: 'N', help: 'number of one request of a run, to send it alone', from: 0, to: 1e7 },
    concurrency: { value: 'N', help: 'concurrent requests', from: 1, to: 256, default: 8 },
    edge: { value: 'NAME', help: 'HTTP server of the gateway: uws or node', default: 'auto' },
    url: { value: 'URL', help: 'base URL of a running gateway, ending in /v1' },
    key: { value: 'KEY', help: 'API key for --url', default: '' },
  },
});
/** As on an idle machine with two cores; the first requests correct it. */
const secondsPerRequest = 0.01;

const own = values.url === undefined ? await startFuzzGateway({ SLUICE_EDGE: values.edge }) : undefined;
const { seed } = values;
process.stdout.write(`seed ${seed}\n`);
const progress = new Progress();
progress.plan((values.only === undefined ? values.requests : 1) * secondsPerRequest);
progress.begin('fuzzing every route');
const { findings, counts, slowest } = await runFuzz({
  url: own?.url ?? values.url ?? '',
  key: own?.key ?? values.key,
  seed,
  requests: values.requests,
  only: values.only,
  concurrency: values.concurrency,
  patience: 60_000,
  maxFindings: 50,
  onDone: () => progress.finish(secondsPerRequest),
});
progress.end();
const rows = [...counts].map(([operation, statuses]) => [
  operation,
  [...statuses]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status}×${count}`)
    .join(' '),
]);
process.stdout.write(
  `${table(['OPERATION', 'RESPONSES'], rows)}\nslowest: ${slowest.operation}, ${slowest.milliseconds} ms\n`,
);
for (const { number, operation, status, problems, curl } of findings)
  process.stdout.write(
    `\n${operation} (--only ${number}) responded ${status}\n  ${problems.join('\n  ').slice(0, 1500)}\n  ${curl.slice(0, 4000)}\n`,
  );
await own?.stop();
process.exitCode = findings.length === 0 ? 0 : 1;
