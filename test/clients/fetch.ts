/** Installs a client's packages into a cache outside the tree. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Client } from './client.ts';
import { type Fetched, fetchPackages } from './packages.ts';

const cache = process.env.SLUICE_CLIENTS ?? join(homedir(), '.cache', 'sluice-clients');

export const fetchClient = async (slug: string, client: Client): Promise<Fetched> => {
  const excuse = client.missing?.();
  return excuse === undefined ? fetchPackages(cache, slug, client) : { missing: excuse };
};
