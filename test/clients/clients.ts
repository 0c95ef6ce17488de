/** Finds the clients: every `<slug>.client.ts` in a folder beside this file. */
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from './client.ts';

export interface NamedClient {
  /** The name of its file; blocks of docs/clients.md are marked with it. */
  readonly slug: string;
  readonly client: Client;
}

const here = fileURLToPath(new URL('.', import.meta.url));
/** Compiled, this file finds the compiled ones. */
const ending = `.client${extname(import.meta.url)}`;

export const readClients = (): Promise<readonly NamedClient[]> => {
  const files = readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(here, name)).map((file) => join(here, name, file)))
    .filter((path) => path.endsWith(ending))
    .sort();
  return Promise.all(
    files.map(async (path) => {
      const { default: client } = (await import(path)) as { default: Client };
      return { slug: basename(path, ending), client };
    }),
  );
};
