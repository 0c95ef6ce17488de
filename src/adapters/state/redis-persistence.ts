/** Whether Redis keeps its data on disk. */
import type { Redis } from 'ioredis';
import { RedisConnection } from '../redis.ts';
import type { RedisAddress } from '../redis-settings.ts';

/** append-only: at most the last second is lost; snapshots: minutes; none: everything; unknown: it does not say. */
export type Persistence = 'append-only' | 'snapshots' | 'none' | 'unknown';

/** From the worst. */
const order: readonly Persistence[] = ['none', 'unknown', 'snapshots', 'append-only'];

/** Of the primaries the worst. */
export const readPersistence = async (address: RedisAddress): Promise<Persistence> => {
  const connection = new RedisConnection(address);
  try {
    const all = new Set(await connection.onEach(persistenceOf));
    return order.find((each) => all.has(each)) ?? 'unknown';
  } finally {
    await connection.close();
  }
};

/** Hosted services often refuse CONFIG; INFO has at least the append-only file. */
const persistenceOf = async (redis: Redis): Promise<Persistence> => {
  const info = await redis.info('persistence').catch(() => '');
  if (/^aof_enabled:1/m.test(info)) return 'append-only';
  try {
    const [, appendOnly] = (await redis.config('GET', 'appendonly')) as string[];
    const [, save] = (await redis.config('GET', 'save')) as string[];
    if (appendOnly === 'yes') return 'append-only';
    if (save === undefined) return 'unknown';
    return save === '' ? 'none' : 'snapshots';
  } catch {
    return 'unknown';
  }
};
