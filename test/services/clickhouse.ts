/** A ClickHouse for tests: `CLICKHOUSE_URL`, or chdb behind a small HTTP server. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, launch, notAskedFor, servicesFolder } from './child.ts';

export interface ClickHouseService {
  readonly url: string;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

const python = join(servicesFolder, 'chdb', 'bin', 'python');

/** Why there is no ClickHouse to test with; undefined when there is one. */
export const clickHouseMissing = ({ own = false } = {}): string | undefined => {
  if (!own && shared() !== undefined) return undefined;
  const excuse = notAskedFor();
  if (excuse !== undefined) return excuse;
  return existsSync(python)
    ? undefined
    : `no ClickHouse: test/services/fetch gets one${own ? '' : ', or set CLICKHOUSE_URL'}`;
};

export const startClickHouse = async ({ own = false } = {}): Promise<ClickHouseService> => {
  const url = shared();
  if (url !== undefined && !own) {
    const refuse = () => Promise.reject(new Error('This ClickHouse is not ours to end.'));
    return { url, kill: refuse, revive: refuse, stop: async () => undefined };
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-clickhouse-'));
  const port = await freePort();
  const front = join(import.meta.dirname, 'clickhouse-front.py');
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

const shared = (): string | undefined => process.env.CLICKHOUSE_URL || undefined;

const pings = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ping`)).ok;
  } catch {
    return false;
  }
};
