/** Opens the configured State adapter, and checks that it responds. */
import { join } from 'node:path';
import type { State } from '../../ports/state.ts';
import { checked } from '../checked.ts';

interface StateConfig {
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
}

/** Rejects with one sentence for the operator when the store cannot be used. */
export const openState = async ({ dataDir, redisUrl }: StateConfig): Promise<State> =>
  checked(await (redisUrl === undefined ? embedded(dataDir) : shared(redisUrl)));

// Loaded when chosen: the other store's library costs a start nothing.
const embedded = async (dataDir: string): Promise<State> =>
  (await import('./libsql.ts')).openLibsqlState(join(dataDir, 'state.db'));

const shared = async (url: string): Promise<State> => (await import('./redis.ts')).openRedisState(url);
