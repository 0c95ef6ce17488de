/**
 * Checks the Helm chart, then runs it on a control plane of Kubernetes: `npm run test:kubernetes`, or with `chart` or `cluster`
 * one of them. `-- --fetch` only builds the tools, `-- --allow-missing` leaves out a part whose tools are not there.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endWith, readCommand } from '../clients/command.ts';
import { orEnd } from '../command-line.ts';
import { checkChart } from './chart-checks.ts';
import { createChecks } from './check.ts';
import { fetchScript, inNetwork, missing, releases, serverVersion } from './tools.ts';

const parts = {
  chart: {
    title: `chart, against the schemas of ${releases.join(', ')}`,
    fetch: [],
    run: async (): Promise<boolean> => {
      const checks = createChecks();
      await checkChart(checks);
      return checks.results.every(({ problem }) => problem === undefined);
    },
  },
  cluster: {
    title: `control plane ${serverVersion}`,
    fetch: ['helm', 'crds', 'control-plane'],
    run: async (): Promise<boolean> => {
      const script = fileURLToPath(new URL('cluster.ts', import.meta.url));
      const [program, args] = inNetwork(process.execPath, ...process.execArgv, script);
      const child = spawn(program, args, { stdio: 'inherit' });
      // All processes of the namespace end with it.
      process.once('exit', () => child.kill('SIGKILL'));
      const [code] = await once(child, 'exit');
      return code === 0;
    },
  },
} as const;
type Part = keyof typeof parts;

const program = 'npm run test:kubernetes';
const command = orEnd(program, () => readCommand(program, process.argv.slice(2), Object.keys(parts)));
const chosen = (Object.keys(parts) as Part[]).filter(
  (part) => command.names.length === 0 || command.names.includes(part),
);
if (command.onlyFetch) {
  for (const part of chosen) spawnSync(fetchScript, parts[part].fetch, { stdio: 'inherit' });
  endWith(command, { failed: [], missing: chosen.filter((part) => missing(part) !== undefined) });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const left: Part[] = [];
const failed: Part[] = [];
for (const part of chosen) {
  const reason = missing(part);
  console.log(`\n${parts[part].title}`);
  if (reason !== undefined) {
    console.log(`  missing: ${reason}`);
    left.push(part);
    continue;
  }
  if (!(await parts[part].run())) failed.push(part);
}
const names = (some: readonly string[]): string => some.join(' ') || 'none';
const exercised = chosen.filter((part) => !left.includes(part));
console.log(`\nkubernetes exercised: ${names(exercised)}; not to be had: ${names(left)}`);
endWith(command, { failed, missing: left });
