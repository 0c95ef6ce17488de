/** Opens what a command works on: the admin API of a gateway, or the stores of one, running or not. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hostsOf } from '../adapters/ledger/clickhouse-settings.ts';
import { openLedger } from '../adapters/ledger/open.ts';
import { placeName } from '../adapters/redis-settings.ts';
import { openState } from '../adapters/state/open.ts';
import { createAudit } from '../admin/audit.ts';
import { createManagement, type Management } from '../admin/management.ts';
import { type Config, loadConfig } from '../config.ts';
import type { KeyManagement } from '../keys/manage.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { State } from '../ports/state.ts';
import type { Input } from './command.ts';
import { remark } from './output.ts';
import { GatewayClient } from './remote/gateway-client.ts';
import { remoteManagement } from './remote/remote-management.ts';
import { gatewayOf } from './remote/target.ts';

interface StoreOptions {
  /** An empty store is created where there is none. */
  readonly mayCreate?: boolean;
}

export const withState = async <T>(
  work: (state: State) => Promise<T>,
  { mayCreate = false }: StoreOptions = {},
): Promise<T> => {
  const config = loadConfig();
  const { redis, dataDir } = config;
  if (redis === undefined && !mayCreate) ensureExists(dataDir, 'state.db');
  sayWhere(redis === undefined ? dataDir : `Redis at ${placeName(redis)}`);
  const state = await openState(config);
  try {
    return await work(state);
  } finally {
    await state.close();
  }
};

/** Changes are in the audit log either way. */
export const withManagement = <T>(
  input: Input,
  work: (management: Management) => Promise<T>,
  options?: StoreOptions,
): Promise<T> => {
  const gateway = gatewayOf(input);
  return gateway === undefined
    ? withState((state) => work(createManagement(state, createAudit(state, who))), options)
    : work(remoteManagement(new GatewayClient(gateway)));
};

/** In the audit log. */
const who = 'cli';

export const withKeys = <T>(
  input: Input,
  work: (keys: KeyManagement) => Promise<T>,
  options?: StoreOptions,
): Promise<T> => withManagement(input, ({ keys }) => work(keys), options);

export const withLedger = async <T>(work: (ledger: Ledger, config: Config) => Promise<T>): Promise<T> => {
  const config = loadConfig();
  const { clickHouse, dataDir } = config;
  if (clickHouse === undefined) ensureExists(dataDir, 'ledger.db');
  sayWhere(clickHouse === undefined ? dataDir : `ClickHouse at ${hostsOf(clickHouse.urls)}`);
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
  const { clickHouse, dataDir } = loadConfig();
  return clickHouse !== undefined || existsSync(join(dataDir, 'ledger.db'));
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
