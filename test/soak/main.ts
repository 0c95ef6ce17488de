/** `npm run soak -- --minutes 10 --seed 7`: exits with 1 when resources are not released. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { Progress } from '../progress.ts';
import { isAtRest, runSoak, warmUpOf } from './soak.ts';

const { values } = readCommandLine({
  command: 'npm run soak',
  summary: 'Runs mixed load on all routes, then checks that every resource was released.',
  options: {
    minutes: { value: 'N', help: 'length of the load', from: 0.1, to: 10_000, fractions: true, default: 10 },
    seed: { value: 'N', help: 'repeats a run', from: 0, to: 1e9, default: Date.now() % 1_000_000 },
    clients: { value: 'N', help: 'concurrent clients', from: 1, to: 1000, default: 16 },
  },
});

process.stdout.write(`seed ${values.seed}\n`);
const milliseconds = values.minutes * 60_000;
const planned = (milliseconds + warmUpOf(milliseconds)) / 1000;
const progress = new Progress();
progress.plan(planned);
progress.begin(`${values.clients} clients on all routes`, planned);
const { before, after, done, left } = await runSoak({
  seed: values.seed,
  milliseconds,
  clients: values.clients,
  patience: 60_000,
  say: (line) => progress.say(line),
});
progress.end();

const mebibyte = 1024 * 1024;
const resources = (held: Readonly<Record<string, number>>): number =>
  Object.values(held).reduce((sum, count) => sum + count, 0);
/** What may be more afterwards: memory that the allocator keeps, a thread or a file that was not needed before. */
const checks: readonly (readonly [what: string, before: number, after: number, most: number])[] = [
  ['resident MiB', before.rss / mebibyte, after.rss / mebibyte, (before.rss / mebibyte) * 1.3 + 64],
  ['heap MiB', before.heap / mebibyte, after.heap / mebibyte, (before.heap / mebibyte) * 1.25 + 16],
  ['descriptors', before.descriptors, after.descriptors, before.descriptors + 8],
  [
    'timers, threads, sockets',
    resources(before.resources),
    resources(after.resources),
    resources(before.resources) + 8,
  ],
  ['requests in flight', before.inFlight, after.inFlight, 0],
  ['leases', before.leases, after.leases, 0],
  ['waiting', before.waiting, after.waiting, 0],
  ['renders', before.renders, after.renders, 0],
  ['temporary files', before.temporary.length, after.temporary.length, 0],
  ['blobs', before.blobs.length, after.blobs.length, 0],
];
const rows = checks.map(([what, first, then, most]) => [
  what,
  ...[first, then, most].map((figure) => String(Math.round(figure * 10) / 10)),
  then <= most ? 'good' : 'TOO MANY',
]);
process.stdout.write(`${table(['WHAT', 'BEFORE', 'AFTER', 'AT MOST', ''], rows)}\n`);
process.stdout.write(`${done} done, ${left} left half way or cut\n`);
process.exitCode = isAtRest(after) && checks.every(([, , then, most]) => then <= most) ? 0 : 1;
