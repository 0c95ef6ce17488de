/**
 * Runs real model servers with toy models behind the built gateway: `npm run test:engines`, or with names of some.
 * `-- --fetch` only installs them, `-- --record` also replaces the fixtures by what they send.
 */

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

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const every = await readServers();
const unknown = asked.filter((slug) => !every.some((one) => one.slug === slug));
if (unknown.length > 0) throw new Error(`no such server: ${unknown.join(', ')}`);
const onlyFetch = process.argv.includes('--fetch');
const recording = process.argv.includes('--record');

const rows: Row[] = [];
for (const named of every.filter(({ slug }) => asked.length === 0 || asked.includes(slug))) {
  const begun = performance.now();
  const fetched = await fetchServer(named.slug, named.server);
  const missing = 'missing' in fetched ? fetched.missing : undefined;
  const state = missing === undefined ? 'ready' : `not to be had here: ${missing}`;
  console.log(`${named.slug}: ${state} (${secondsSince(begun).toFixed(1)} s)`);
  if (onlyFetch) continue;
  if ('missing' in fetched) {
    rows.push({ ...named, missing, results: [], seconds: 0 });
    continue;
  }
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
  rows.push({ ...named, missing, results, seconds: secondsSince(started) });
}
if (onlyFetch) process.exit();

console.log(`\n${tableOf(rows)}`);
const exercised = rows.filter(({ missing }) => missing === undefined);
const names = (some: readonly Row[]): string =>
  some.map(({ slug, server }) => `${slug} ${server.version}`).join(', ') || 'none';
const left = rows.filter((row) => !exercised.includes(row));
console.log(`engines exercised: ${names(exercised)}; not to be had: ${names(left)}`);
const failed = exercised.filter(({ results }) => results.some(({ problem }) => problem !== undefined));
if (failed.length > 0) console.log(`failed: ${names(failed)}`);
process.exitCode = failed.length === 0 ? 0 : 1;
