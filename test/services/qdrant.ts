/** A Qdrant for tests: the one `QDRANT_URL` names, or its own local mode (PyPI `qdrant-client`) behind a small HTTP front of ours. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, launch, servicesFolder } from './child.ts';

export interface QdrantService {
  readonly url: string;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

const python = join(servicesFolder, 'qdrant', 'bin', 'python');

/** Why there is no Qdrant to test with; undefined when there is one. */
export const qdrantMissing = ({ own = false } = {}): string | undefined => {
  if (!own && shared() !== undefined) return undefined;
  return existsSync(python)
    ? undefined
    : `no Qdrant: test/services/fetch gets one${own ? '' : ', or set QDRANT_URL'}`;
};

export const startQdrant = async ({ own = false } = {}): Promise<QdrantService> => {
  const url = shared();
  if (url !== undefined && !own) {
    const refuse = () => Promise.reject(new Error('This Qdrant is not ours to end.'));
    return { url, kill: refuse, revive: refuse, stop: async () => undefined };
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-qdrant-'));
  const port = await freePort();
  const front = join(import.meta.dirname, 'qdrant-front.py');
  const launchFront = () => launch(python, [front, String(port), join(folder, 'data')], () => pings(port));
  let server = await launchFront();
  return {
    url: `http://127.0.0.1:${port}`,
    kill: () => end(server, 'SIGKILL'),
    revive: async () => {
      server = await launchFront();
    },
    stop: async () => {
      await end(server, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const shared = (): string | undefined => process.env.QDRANT_URL || undefined;

const pings = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/`)).ok;
  } catch {
    return false;
  }
};
