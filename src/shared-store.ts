/** Guards against a Redis that loses its data: looks at its persistence, and keeps a copy of keys to restore. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { RedisSettings } from './adapters/redis-settings.ts';
import type { Persistence } from './adapters/state/redis-persistence.ts';
import { budgetKind } from './budgets/manage.ts';
import type { Config } from './config.ts';
import type { Opened } from './helpers/opened.ts';
import { openKeyCopy } from './keys/copy.ts';
import { limitsKind } from './limits/manage.ts';
import type { State } from './ports/state.ts';

export interface SharedStore {
  /** Called when records are missing that were there: looks at once whether the store lost its data. */
  restore(): void;
  stats(): { readonly persistence: Persistence; readonly restores: number };
}

type SharedConfig = Pick<Config, 'redis' | 'redisPersistence' | 'dataDir'>;

/** Before the first key is created: a store that lost its data is restored, not begun anew. */
export const openShared = async (
  { redis, redisPersistence, dataDir }: SharedConfig,
  { state, opened, log }: { readonly state: State; readonly opened: Opened; readonly log: Logger },
): Promise<SharedStore> => {
  // A file of its own is as safe as the copy would be.
  if (redis === undefined)
    return { restore: () => undefined, stats: () => ({ persistence: 'append-only', restores: 0 }) };
  warnOfFailover(redis, log);
  const persistence = await checkPersistence(redis, redisPersistence, log);
  mkdirSync(dataDir, { recursive: true });
  const copy = opened.add(
    openKeyCopy({ state, file: join(dataDir, 'keys-copy.jsonl'), log, otherKinds: [limitsKind, budgetKind] }),
  );
  await copy.look();
  return {
    // What fails is logged by the next regular look.
    restore: () => void copy.look().catch(() => undefined),
    stats: () => ({ persistence, restores: copy.restores() }),
  };
};

/** Replication is not waited for unless it is asked for. */
const warnOfFailover = ({ place: { topology }, waitReplicas }: RedisSettings, log: Logger): void => {
  if ((topology === 'cluster' || topology === 'sentinel') && waitReplicas === 0)
    log.warn('a failover of Redis may lose keys and jobs of its last moment: set REDIS_WAIT_REPLICAS to 1');
};

const checkPersistence = async (
  redis: RedisSettings,
  wanted: Config['redisPersistence'],
  log: Logger,
): Promise<Persistence> => {
  const { readPersistence } = await import('./adapters/state/redis-persistence.ts');
  const persistence = await readPersistence(redis);
  if (persistence === 'none' && wanted === 'require')
    throw new Error(
      'Redis keeps nothing on disk, and SLUICE_REDIS_PERSISTENCE is require: set "appendonly yes" in its configuration',
    );
  if (persistence === 'none' && wanted === 'warn')
    log.error(
      'Redis keeps nothing on disk: its restart loses jobs, vector store records, webhook secrets and signing keys. Set "appendonly yes" in its configuration',
    );
  if (persistence === 'snapshots' && wanted !== 'ignore')
    log.warn('Redis keeps snapshots only: its restart loses the changes of minutes. Set "appendonly yes"');
  if (persistence === 'unknown' && wanted !== 'ignore')
    log.warn('Redis does not say whether it keeps its data on disk');
  return persistence;
};
