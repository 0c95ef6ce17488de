/** Installs pinned packages from npm or PyPI into a folder of a cache, once per set of versions. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram, tail } from './processes.ts';

export interface Packages {
  readonly registry: 'npm' | 'pypi';
  /** Exact versions by package name; a name may carry extras, as in `name[extra]`. */
  readonly packages: Readonly<Record<string, string>>;
  /** npm only: whether install scripts of its packages run. They do not by default. */
  readonly scripts?: boolean;
  /** npm only: versions of packages further down. */
  readonly overrides?: Readonly<Record<string, string>>;
}

/** The folder with the packages, or why they cannot be had. */
export type Fetched = { readonly folder: string } | { readonly missing: string };

const fetchSeconds = 420;

/** Where these packages are once they are installed. */
export const folderOf = (cache: string, slug: string, packages: Packages): string =>
  join(cache, `${slug}-${fingerprint(packages)}`);

export const fetchPackages = async (cache: string, slug: string, packages: Packages): Promise<Fetched> => {
  const folder = folderOf(cache, slug, packages);
  // Written last: a folder without it is one whose installation was interrupted.
  const marker = join(folder, '.complete');
  if (existsSync(marker) && isUsable(folder, packages)) return { folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problem = await (packages.registry === 'npm' ? fromNpm : fromPypi)(folder, packages);
  if (problem !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    return { missing: problem };
  }
  writeFileSync(marker, '');
  return { folder };
};

const fingerprint = ({ registry, packages, scripts = false, overrides }: Packages): string =>
  createHash('sha256')
    .update(JSON.stringify([registry, packages, scripts, ...(overrides === undefined ? [] : [overrides])]))
    .digest('hex')
    .slice(0, 10);

/** A Python environment breaks when the Python that made it is gone. */
const isUsable = (folder: string, { registry }: Packages): boolean =>
  registry === 'npm' || spawnSync(join(folder, 'bin', 'python'), ['-c', '']).status === 0;

const fromNpm = (
  folder: string,
  { packages, scripts = false, overrides }: Packages,
): Promise<string | undefined> => {
  if (overrides !== undefined)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }));
  const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const flags = ['--no-audit', '--no-fund', ...(scripts ? [] : ['--ignore-scripts'])];
  return install(folder, 'npm', ['install', '--prefix', folder, '--save-exact', ...flags, ...named]);
};

const fromPypi = async (folder: string, { packages }: Packages): Promise<string | undefined> => {
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
