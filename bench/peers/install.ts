/** Installs a peer's packages into a cache outside the tree, or says why it cannot be had. */
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { fetchPackages, folderOf, type Packages } from '../../test/clients/packages.ts';

export interface Installable {
  readonly name: string;
  /** Exact versions from npm or PyPI. */
  readonly install?: Packages;
  /** A program that the machine must have. */
  readonly program?: string;
}

const cache = process.env.SLUICE_PEERS ?? path.join(os.homedir(), '.cache', 'sluice-peers');

/** Where its packages are. */
export const installedIn = ({ name, install }: Installable): string =>
  install === undefined ? '' : folderOf(cache, name, install);

/** Why it cannot be had; undefined when it is there. */
export const install = async ({
  name,
  install: packages,
  program,
}: Installable): Promise<string | undefined> => {
  if (program !== undefined && spawnSync('which', [program]).status !== 0) return `no ${program} on PATH`;
  if (packages === undefined) return undefined;
  const fetched = await fetchPackages(cache, name, packages);
  return 'missing' in fetched ? `cannot be installed: ${fetched.missing}` : undefined;
};
