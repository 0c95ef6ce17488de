/** Runs scripts whose changes replicas must have before they are acknowledged, so that a failover keeps them. */
import { fail } from '../errors.ts';
import { isMissingScript, RedisConnection, type Script, type ScriptValues } from './redis.ts';
import type { RedisClient } from './redis-client.ts';
import { type RedisAddress, settingsOf } from './redis-settings.ts';

export interface DurableScripts {
  /** Fails with `unavailable` when too few replicas have it in time: the change may have happened all the same. */
  run(script: Script, keys: readonly string[], values: ScriptValues): Promise<unknown>;
  close(): Promise<void>;
}

/** Milliseconds that replicas have to acknowledge a change. */
const waitMs = 1_000;
/** Moves of a key that are followed. */
const mostMoves = 3;

/** `connection` runs them where no replica has to be waited for. */
export const openDurable = (
  address: RedisAddress,
  connection: RedisConnection,
  settings: { readonly patience?: number } = {},
): DurableScripts => {
  const { waitReplicas } = settingsOf(address);
  if (waitReplicas === 0)
    return {
      run: (script, keys, values) => connection.run(script, keys, values),
      close: async () => undefined,
    };
  // Its own: what follows on a connection waits with it.
  const own = new RedisConnection(address, settings);
  return {
    run: async (script, keys, values) => {
      const { reply, replicas } = await own.use((redis) =>
        runAndWait(redis, waitReplicas, script, keys, values),
      );
      if (replicas >= waitReplicas) return reply;
      const words = `${replicas} of ${waitReplicas} replicas (REDIS_WAIT_REPLICAS) acknowledged a change within ${waitMs} ms`;
      throw fail('unavailable', 'The state store is unavailable', { cause: new Error(words) });
    },
    close: () => own.close(),
  };
};

interface Replicated {
  readonly reply: unknown;
  readonly replicas: number;
}

const runAndWait = async (
  redis: RedisClient,
  wanted: number,
  script: Script,
  keys: readonly string[],
  values: ScriptValues,
): Promise<Replicated> => {
  let call: [string, string] = ['evalsha', script.hash];
  for (let moves = 0; ; ) {
    // Together: WAIT is for what its own connection has written.
    const results = await redis
      .pipeline([
        [...call, keys.length, ...keys, ...values],
        ['wait', wanted, waitMs],
      ])
      .exec();
    const [[error, reply] = [], [, replicas] = []] = results ?? [];
    if (error === null) return { reply, replicas: Number(replicas) };
    if (isMissingScript(error)) call = ['eval', script.lua];
    else if (error?.message.startsWith('MOVED') && moves++ < mostMoves) await follow(redis, keys);
    else throw error;
  }
};

/** The library follows single commands to where a key has moved, and remembers it. */
const follow = (redis: RedisClient, keys: readonly string[]): Promise<unknown> => redis.exists(keys[0] ?? '');
