/** Finds the model servers: every `<slug>.server.ts` in `kinds`. */
import { readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ModelServer } from './server.ts';

export interface NamedServer {
  /** The name of its file. */
  readonly slug: string;
  readonly server: ModelServer;
}

const kinds = fileURLToPath(new URL('./kinds', import.meta.url));
/** Compiled, this file finds the compiled ones. */
const ending = `.server${extname(import.meta.url)}`;

export const readServers = (): Promise<readonly NamedServer[]> =>
  Promise.all(
    readdirSync(kinds)
      .filter((name) => name.endsWith(ending))
      .sort()
      .map(async (name) => {
        const { default: server } = (await import(join(kinds, name))) as { default: ModelServer };
        return { slug: basename(name, ending), server };
      }),
  );
