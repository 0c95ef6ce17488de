/** Opens a spawner on first use, and replaces one that has exited. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seccompFilter } from './seccomp-filter.ts';
import { filterIn, Spawner } from './spawner.ts';
import { socketName } from './spawner-messages.ts';

const openSpawner = async (): Promise<Spawner> => {
  // Created with mode 0700: nobody else can connect.
  const folder = await mkdtemp(join(tmpdir(), 'sluice-codec-'));
  const server = createServer();
  // Never shared with other gateways of a cluster.
  server.listen({ path: join(folder, socketName), exclusive: true });
  try {
    await once(server, 'listening');
    await writeFile(filterIn(folder), seccompFilter() ?? '', { mode: 0o600 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return new Spawner(folder, server);
};

export class CurrentSpawner {
  #current: Promise<Spawner> | undefined;
  #closed = false;

  async get(): Promise<Spawner> {
    if (this.#closed) throw new Error('the codec is closed');
    const last = this.#current;
    if (last === undefined) return this.#open();
    const spawner = await last;
    if (await spawner.usable()) return spawner;
    // Another caller may have replaced or closed it meanwhile.
    if (this.#closed || this.#current !== last) return this.get();
    await Promise.all([this.#open(), spawner.close()]);
    return this.get();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await (await this.#current)?.close();
  }

  #open(): Promise<Spawner> {
    this.#current = openSpawner();
    // A folder that cannot be created now may be created later.
    this.#current.catch(() => {
      this.#current = undefined;
    });
    return this.#current;
  }
}
