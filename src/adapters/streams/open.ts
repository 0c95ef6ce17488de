/** Opens the configured Streams adapter, and checks that it responds. */
import type { Logger } from 'pino';
import type { LastEvents, Streams } from '../../ports/streams.ts';
import { checked } from '../checked.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { LocalStreams } from './local.ts';
import type { LogLimits } from './log-budget.ts';

export interface StreamsConfig {
  readonly dataDir: string;
  readonly redis: RedisAddress | undefined;
  readonly streams: LogLimits & { readonly mostGraceMs: number };
}

interface Parts {
  readonly log: Logger;
  /** What readers get when the gateway that wrote a stream has died. */
  readonly lost: LastEvents;
}

/** Rejects with one sentence for the operator when the service behind it cannot be used. */
export const openStreams = async (
  { dataDir, redis, streams: { mostGraceMs, ...limits } }: StreamsConfig,
  { log, lost }: Parts,
): Promise<Streams> => {
  const local = new LocalStreams({ folder: dataDir, mostGraceMs, limits, log });
  if (redis === undefined) return local;
  const { RedisStreams } = await import('./redis.ts');
  return checked(new RedisStreams(redis, { local, log, lost }));
};
