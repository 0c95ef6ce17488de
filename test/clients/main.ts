/**
 * Runs real clients of pinned versions against a started gateway: `npm run test:clients`, or with names of some.
 * `-- --fetch` only installs them, `-- --allow-missing` leaves out those that cannot be had here.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orEnd } from '../command-line.ts';
import { patiently } from '../eventually.ts';
import { readBlocks } from './blocks.ts';
import type { CheckResult } from './client.ts';
import { type NamedClient, readClients } from './clients.ts';
import { endWith, readCommand } from './command.ts';
import { fetchClient } from './fetch.ts';
import { type Gateway, startBuiltGateway } from './gateway.ts';
import type { Fetched } from './packages.ts';
import { openSite } from './site.ts';
import { type Row, tableOf } from './table.ts';

/** Two at a time: they wait for the network and for the disk in turn. */
const fetchAll = async (clients: readonly NamedClient[]): Promise<ReadonlyMap<string, Fetched>> => {
  const waiting = [...clients];
  const fetched = new Map<string, Fetched>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const begun = performance.now();
      const result = await fetchClient(next.slug, next.client);
      fetched.set(next.slug, result);
      const state = 'missing' in result ? `not to be had here: ${result.missing}` : 'ready';
      console.log(`${next.slug}: ${state} (${secondsSince(begun).toFixed(1)} s)`);
    }
  };
  await Promise.all([work(), work()]);
  return fetched;
};

const secondsSince = (begun: number): number => (performance.now() - begun) / 1000;

const exercise = async (
  { slug, client }: NamedClient,
  installed: string,
  gateway: Gateway,
): Promise<readonly CheckResult[]> => {
  const { seconds = 300 } = client;
  const folder = mkdtempSync(join(tmpdir(), `sluice-${slug}-`));
  const signal = AbortSignal.timeout(patiently(seconds * 1000));
  const blocks = readBlocks().filter((block) => block.slug === slug);
  const opened = openSite(client, { ...gateway, folder, installed, blocks, signal });
  try {
    await Promise.race([client.run(opened.site), rejectWhen(signal, `took longer than ${seconds} s`)]);
  } catch (error) {
    opened.site.report('all checks ran', error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return opened.results;
};

const rejectWhen = (signal: AbortSignal, reason: string): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(reason)), { once: true });
  });

// Programs are in process groups of their own: they end with this process only if it ends by `exit`.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const every = await readClients();
const known = every.map(({ slug }) => slug);
const unknown = readBlocks().filter(({ slug }) => !known.includes(slug));
if (unknown.length > 0) throw new Error(`docs/clients.md: no such client: ${unknown[0]?.slug}`);
const program = 'npm run test:clients';
const command = orEnd(program, () => readCommand(program, process.argv.slice(2), known));
const clients = every.filter(({ slug }) => command.names.length === 0 || command.names.includes(slug));
const fetched = await fetchAll(clients);
const missing = clients.filter(({ slug }) => 'missing' in (fetched.get(slug) ?? {})).map(({ slug }) => slug);
if (command.onlyFetch) endWith(command, { failed: [], missing });

const gateway = await startBuiltGateway();
const rows: Row[] = [];
try {
  for (const named of clients) {
    const result = fetched.get(named.slug) ?? { missing: 'it was not fetched' };
    if ('missing' in result) {
      rows.push({ ...named, missing: result.missing, results: [], seconds: 0 });
      continue;
    }
    const begun = performance.now();
    const results = await exercise(named, result.folder, gateway);
    rows.push({ ...named, missing: undefined, results, seconds: secondsSince(begun) });
    console.log(`\n${named.client.name}`);
    for (const { name, seconds, problem } of results)
      console.log(
        problem === undefined
          ? `  ok     ${name} (${seconds.toFixed(1)} s)`
          : `  not ok ${name}\n${problem.replace(/^/gm, '         ')}`,
      );
  }
} finally {
  await gateway.stop();
}

console.log(`\n${tableOf(rows)}`);
const exercised = rows.filter(({ missing }) => missing === undefined);
const names = (some: readonly Row[]): string => some.map(({ slug }) => slug).join(' ') || 'none';
const left = rows.filter((row) => !exercised.includes(row));
console.log(`clients exercised: ${names(exercised)}; not to be had: ${names(left)}`);
const failed = exercised
  .filter(({ results }) => results.some(({ problem }) => problem !== undefined))
  .map(({ slug }) => slug);
endWith(command, { failed, missing });
