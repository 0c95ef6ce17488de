/** `npm run soak -- --minutes 10 --seed 7`: exits with 1 when resources are not released. */
import { table } from '../../src/cli/output.ts';
import { readCommandLine } from '../command-line.ts';
import { isAtRest, runSoak } from './soak.ts';

const { values } = readCommandLine({
  command: 'npm run soak',
  summary: 'Mixes all routes for a long time and then looks whether everything was released.',
  options: {
    minutes: { value: 'N', help: 'how long', default: '10' },
    seed: { value: 'N', help: 'repeats a run', default: String(Date.now() % 1_000_000) },
    clients: { value: 'N', help: 'clients at once', default: '16' },
  },
});

process.stdout.write(`seed ${values.seed}\n`);
const { before, after, done, left } = await runSoak({
  seed: Number(values.seed),
  milliseconds: Number(values.minutes) * 60_000,
  clients: Number(values.clients),
  patience: 60_000,
  say: (line) => process.stderr.write(`${line}\n`),
});

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
