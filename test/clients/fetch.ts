/** Installs a client's packages from npm or PyPI into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { runProgram, tail } from './processes.ts';

const cache = process.env.SLUICE_CLIENTS ?? join(homedir(), '.cache', 'sluice-clients');
const fetchSeconds = 420;

/** The folder with its packages, or why they cannot be had. */
export type Fetched = { readonly folder: string } | { readonly missing: string };

export const fetchClient = async (slug: string, client: Client): Promise<Fetched> => {
  const excuse = client.missing?.();
  if (excuse !== undefined) return { missing: excuse };
  const folder = join(cache, `${slug}-${fingerprint(client)}`);
  // Written last: a folder without it is one whose installation was interrupted.
  const marker = join(folder, '.complete');
  if (existsSync(marker) && isUsable(folder, client)) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problem = await (client.registry === 'npm' ? fromNpm : fromPypi)(folder, client);
  if (problem !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    return { missing: problem };
  }
  writeFileSync(marker, '');
  return { folder };
};

const fingerprint = ({ registry, packages, scripts = false }: Client): string =>
  createHash('sha256')
    .update(JSON.stringify([registry, packages, scripts]))
    .digest('hex')
    .slice(0, 10);

/** A Python environment breaks when the Python that made it is gone. */
const isUsable = (folder: string, { registry }: Client): boolean =>
  registry === 'npm' || spawnSync(join(folder, 'bin', 'python'), ['-c', '']).status === 0;

const fromNpm = (folder: string, { packages, scripts = false }: Client): Promise<string | undefined> => {
  const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const flags = ['--no-audit', '--no-fund', ...(scripts ? [] : ['--ignore-scripts'])];
  return install(folder, 'npm', ['install', '--prefix', folder, '--save-exact', ...flags, ...named]);
};

const fromPypi = async (folder: string, { packages }: Client): Promise<string | undefined> => {
  const named = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  return (
    (await install(folder, 'python3', ['-m', 'venv', folder])) ??
    (await install(folder, join(folder, 'bin', 'pip'), ['install', '--quiet', ...named]))
  );
};

/** Its last words where it fails. */
const install = async (
  cwd: string,
  program: string,
  args: readonly string[],
): Promise<string | undefined> => {
  try {
    const output = await runProgram({ program, args, env: process.env, cwd, seconds: fetchSeconds });
    return output.code === 0 ? undefined : lastWords(tail(output));
  } catch (error) {
    return lastWords(error instanceof Error ? error.message : String(error));
  }
};

const lastWords = (text: string): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? 'no reason given').slice(0, 200);
};
