/** Opens the stores of the gateway, running or not, for one piece of work on them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openLedger } from '../adapters/ledger/open.ts';
import { openState } from '../adapters/state/open.ts';
import { type Config, loadConfig } from '../config.ts';
import { createKeyManagement, type KeyManagement } from '../keys/manage.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import { remark } from './output.ts';

interface StoreOptions {
  /** An empty store is created where there is none. */
  readonly mayCreate?: boolean;
}

export const withState = async <T>(
  work: (state: State) => Promise<T>,
  { mayCreate = false }: StoreOptions = {},
): Promise<T> => {
  const config = loadConfig();
  const { redisUrl, dataDir } = config;
  if (redisUrl === undefined && !mayCreate) ensureExists(dataDir, 'state.db');
  sayWhere(redisUrl === undefined ? dataDir : `Redis at ${new URL(redisUrl).host}`);
  const state = await openState(config);
  try {
    return await work(state);
  } finally {
    await state.close();
  }
};

export const withKeys = <T>(work: (keys: KeyManagement) => Promise<T>, options?: StoreOptions): Promise<T> =>
  withState((state) => work(createKeyManagement(state)), options);

export const withLedger = async <T>(work: (ledger: Ledger, config: Config) => Promise<T>): Promise<T> => {
  const config = loadConfig();
  const { clickHouseUrl, dataDir } = config;
  if (clickHouseUrl === undefined) ensureExists(dataDir, 'ledger.db');
  sayWhere(clickHouseUrl === undefined ? dataDir : `ClickHouse at ${new URL(clickHouseUrl).host}`);
  const ledger = await openLedger(config);
  try {
    await ledger.check();
    return await work(ledger, config);
  } finally {
    await ledger.close();
  }
};

/** False: no gateway has run here yet, and so nothing was used. */
export const hasLedger = (): boolean => {
  const { clickHouseUrl, dataDir } = loadConfig();
  return clickHouseUrl !== undefined || existsSync(join(dataDir, 'ledger.db'));
};

/** A command in the wrong folder would otherwise look at an empty store of its own making. */
const ensureExists = (dataDir: string, file: string): void => {
  if (existsSync(join(dataDir, file))) return;
  throw new Error(
    `There is no store in ${dataDir}. Run this where the gateway was started, or set SLUICE_DATA to the folder that it named as its data.`,
  );
};

/** People see which store they talk to; scripts need not. */
const sayWhere = (place: string): void => {
  if (process.stderr.isTTY) remark(`Store: ${place}`);
};

/** How soon a running gateway applies a change. */
export const soon = 'A running gateway obeys within 5 seconds.';
