/** A ClickHouse for tests: `CLICKHOUSE_URL`, or chdb behind a small HTTP server. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Disturbed,
  dataFolder,
  disturbed,
  freePort,
  launch,
  notAskedFor,
  servicesFolder,
} from './child.ts';

export interface ClickHouseService extends Disturbed {
  readonly url: string;
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

export interface ClickHouseWishes {
  /** One that may be killed. */
  readonly own?: boolean;
  /** The only server of a cluster of that name. */
  readonly cluster?: string;
  /** With a Keeper at that port, its tables are replicated ones, which nobody can insert into. */
  readonly keeper?: { readonly port: number; readonly replica: string };
}

export const startClickHouse = async ({
  own = false,
  cluster,
  keeper,
}: ClickHouseWishes = {}): Promise<ClickHouseService> => {
  const url = shared();
  if (url !== undefined && !own) {
    const refuse = () => {
      throw new Error('This ClickHouse is not ours to disturb.');
    };
    return { url, kill: refuse, revive: refuse, freeze: refuse, thaw: refuse, stop: async () => undefined };
  }
  const folder = await dataFolder('clickhouse');
  const port = await freePort();
  const front = join(import.meta.dirname, 'clickhouse-front.py');
  const wishes = [cluster, ...(keeper === undefined ? [] : [String(keeper.port), keeper.replica])];
  const args = [front, String(port), join(folder, 'data'), ...wishes.filter((each) => each !== undefined)];
  const server = await disturbed(() => launch(python, args, () => pings(port)));
  return {
    url: `http://127.0.0.1:${port}`,
    ...server,
    stop: async () => {
      await server.kill();
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
