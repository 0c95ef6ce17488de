/** Opens the configured State adapter, and checks that it responds. */
import { join } from 'node:path';
import type { State } from '../../ports/state.ts';
import { checked } from '../checked.ts';
import type { RedisAddress } from '../redis-settings.ts';

interface StateConfig {
  readonly dataDir: string;
  readonly redis: RedisAddress | undefined;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openState = async ({ dataDir, redis }: StateConfig): Promise<State> =>
  checked(await (redis === undefined ? embedded(dataDir) : shared(redis)));

// Loaded when chosen: the other store's library costs a start nothing.
const embedded = async (dataDir: string): Promise<State> =>
  (await import('./libsql.ts')).openLibsqlState(join(dataDir, 'state.db'));

const shared = async (redis: RedisAddress): Promise<State> =>
  (await import('./redis.ts')).openRedisState(redis);
