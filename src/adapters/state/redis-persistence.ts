/** Whether a Redis server keeps its data on disk. */
import { RedisConnection } from '../redis.ts';

/** append-only: at most the last second is lost; snapshots: minutes; none: everything; unknown: it does not say. */
export type Persistence = 'append-only' | 'snapshots' | 'none' | 'unknown';

/** Hosted services often refuse CONFIG; INFO has at least the append-only file. */
export const readPersistence = async (url: string): Promise<Persistence> => {
  const connection = new RedisConnection(url);
  try {
    return await connection.use(async (redis) => {
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
    });
  } finally {
    await connection.close();
  }
};
