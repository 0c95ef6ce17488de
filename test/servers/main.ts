/**
 * Runs real model servers with toy models behind the built gateway: `npm run test:engines`, or with names of some.
 * `-- --fetch` only installs them, `-- --record` also replaces the fixtures by what they send, `-- --allow-missing`
 * leaves out those that cannot be had here.
 */
import { endWith, readCommand } from '../clients/command.ts';
import { orEnd } from '../command-line.ts';
import { exercise } from './exercise.ts';
import { fetchServer } from './fetch.ts';
import { readServers } from './servers.ts';
import { type Row, tableOf } from './table.ts';

const secondsSince = (begun: number): number => (performance.now() - begun) / 1000;

// Servers are in process groups of their own: they end with this process only if it ends by `exit`.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const every = await readServers();
const slugs = every.map(({ slug }) => slug);
const program = 'npm run test:engines';
const command = orEnd(program, () => readCommand(program, process.argv.slice(2), slugs, ['record']));
const recording = command.has('record');
const missing: string[] = [];

const rows: Row[] = [];
for (const named of every.filter(({ slug }) => command.names.length === 0 || command.names.includes(slug))) {
  const begun = performance.now();
  const fetched = await fetchServer(named.slug, named.server);
  const state = 'missing' in fetched ? `not to be had here: ${fetched.missing}` : 'ready';
  console.log(`${named.slug}: ${state} (${secondsSince(begun).toFixed(1)} s)`);
  if ('missing' in fetched) {
    missing.push(named.slug);
    rows.push({ ...named, missing: fetched.missing, results: [], seconds: 0 });
    continue;
  }
  if (command.onlyFetch) continue;
  const started = performance.now();
  const results = await exercise({
    ...named,
    installed: fetched.folder,
    recording,
    onResult: ({ name, seconds, problem }) =>
      console.log(
        problem === undefined
          ? `  ok     ${name} (${seconds.toFixed(1)} s)`
          : `  not ok ${name}\n${problem.replace(/^/gm, '         ')}`,
      ),
  });
  rows.push({ ...named, missing: undefined, results, seconds: secondsSince(started) });
}
if (command.onlyFetch) endWith(command, { failed: [], missing });

console.log(`\n${tableOf(rows)}`);
const exercised = rows.filter(({ missing }) => missing === undefined);
const names = (some: readonly Row[]): string =>
  some.map(({ slug, server }) => `${slug} ${server.version}`).join(', ') || 'none';
const left = rows.filter((row) => !exercised.includes(row));
console.log(`engines exercised: ${names(exercised)}; not to be had: ${names(left)}`);
const failed = exercised
  .filter(({ results }) => results.some(({ problem }) => problem !== undefined))
  .map(({ slug }) => slug);
endWith(command, { failed, missing });
