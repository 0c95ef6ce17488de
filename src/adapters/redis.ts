/** A Redis connection whose calls fail within a time limit and never queue; runs Lua scripts. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { exponentialBackoff } from '../backoff.ts';
import { fail } from '../errors.ts';

export interface RedisSettings {
  /** Milliseconds until a call without an answer fails; also how long calls wait for a lost connection to come back. */
  readonly patience?: number;
  /** The connection broke; calls wait for it to come back, as long as they may. */
  readonly onLost?: () => void;
}

/** Lua that runs as one step; sent by its hash, and in full when the server does not have it cached. */
export interface Script {
  readonly lua: string;
  readonly hash: string;
}

/** Reads a `.lua` file; the constants are locals at its top. */
export const loadScript = (file: URL, constants: Readonly<Record<string, string | number>> = {}): Script => {
  const locals = Object.entries(constants).map(
    ([name, value]) => `local ${name} = ${JSON.stringify(value)} `,
  );
  // On the first line: those of errors stay right.
  const lua = locals.join('') + readFileSync(file, 'utf8');
  return { lua, hash: createHash('sha1').update(lua).digest('hex') };
};

/** Before a lost connection is opened again. */
export const reconnectBackoff = exponentialBackoff({ first: 100, most: 1_000 });

export class RedisConnection {
  readonly #redis: Redis;
  readonly #patience: number;
  readonly #address: string;
  /** Undefined while connected. */
  #downSince: number | undefined = Date.now();
  #lastError: Error | undefined;
  /** Why this address can never be used. */
  #refusal: Error | undefined;
  /** The wait for a lost connection to come back. */
  #return: Promise<void> | undefined;

  constructor(url: string, { patience = 3_000, onLost }: RedisSettings = {}) {
    this.#patience = patience;
    this.#address = withoutSecrets(url);
    this.#redis = new Redis(url, {
      // The library's own queue has no bound and sends writes long after their callers gave up.
      enableOfflineQueue: false,
      // A resent script may run twice, and then denies what its first run did: a lost answer is an error instead.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: patience,
      // On a stream that is gone already the library waits this out before the process may end.
      disconnectTimeout: 100,
      commandTimeout: patience,
      // A peer that vanished without a word is dropped, and dialled again.
      socketTimeout: patience + 1_000,
      retryStrategy: reconnectBackoff,
      // After a failover the old primary only reads: look up who is primary now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
    this.#redis.on('ready', () => {
      this.#downSince = undefined;
      this.#lastError = undefined;
    });
    // Also after each attempt to come back that fails.
    this.#redis.on('close', () => {
      if (this.#downSince !== undefined) return;
      this.#downSince = Date.now();
      onLost?.();
    });
    this.#redis.on('error', (error: Error) => {
      this.#lastError = error;
      if (!error.message.includes('DB index is out of range')) return;
      // The library would go on in database 0, which may be somebody else's.
      this.#refusal = error;
      this.#redis.disconnect();
    });
  }

  /** Runs commands on the live connection; fails with `unavailable`, the operator's sentence as its cause. */
  async use<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    try {
      if (this.#redis.status !== 'ready') await this.#ready();
      return await work(this.#redis);
    } catch (error) {
      throw fail('unavailable', 'The state store is unavailable', { cause: this.#explain(error) });
    }
  }

  run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    return this.use(async (redis) => {
      try {
        return await redis.evalsha(script.hash, keys.length, ...keys, ...values);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return await redis.eval(script.lua, keys.length, ...keys, ...values);
      }
    });
  }

  /** Resolves when Redis answers; rejects with one sentence for the operator. */
  async check(): Promise<void> {
    try {
      if (this.#redis.status !== 'ready') await this.#ready();
      await this.#redis.ping();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  /** Waits for the connection, but not for one that has been gone for longer than a call may take. */
  #ready(): Promise<void> {
    const left = (this.#downSince ?? Date.now()) + this.#patience - Date.now();
    if (left <= 0 || this.#redis.status === 'end') return Promise.reject(new Error('not connected'));
    // All calls that come meanwhile share one wait.
    this.#return ??= new Promise<void>((resolve, reject) => {
      const settle = (outcome: () => void) => () => {
        clearTimeout(timer);
        this.#redis.off('ready', onReady);
        this.#redis.off('end', onEnd);
        this.#return = undefined;
        outcome();
      };
      const onReady = settle(resolve);
      const onEnd = settle(() => reject(new Error('the connection was closed')));
      const onTime = settle(() => reject(new Error('not connected')));
      const timer = setTimeout(onTime, left);
      this.#redis.on('ready', onReady);
      this.#redis.on('end', onEnd);
    });
    return this.#return;
  }

  #explain(error: unknown): Error {
    const reason = this.#refusal ?? this.#lastError ?? error;
    const words = (reason instanceof Error ? reason.message || reason.name : String(reason)).replace(
      /\.+$/,
      '',
    );
    return new Error(`Redis at ${this.#address} cannot be used: ${words}.`, { cause: error });
  }
}

const withoutSecrets = (url: string): string => {
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'unix:' ? pathname : host;
};
