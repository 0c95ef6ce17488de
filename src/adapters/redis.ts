/** A Redis connection whose calls fail within a time limit and never queue; runs Lua scripts. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Cluster, type Redis } from 'ioredis';
import { fail } from '../errors.ts';
import { openClient, primariesOf, type RedisClient, watchConnections } from './redis-client.ts';
import { partitions, partitionTag } from './redis-partitions.ts';
import { placeName, type RedisAddress, settingsOf } from './redis-settings.ts';

export interface ConnectionSettings {
  /** Milliseconds until a call without an answer fails; also how long calls wait for a lost connection to come back. */
  readonly patience?: number;
  /** A connection broke; calls wait for it to come back, as long as they may. */
  readonly onLost?: () => void;
}

/** Lua that runs as one step; sent by its hash, and in full when the server does not have it cached. */
export interface Script {
  readonly lua: string;
  readonly hash: string;
}

export type ScriptValues = readonly (string | number)[];

/** Reads a `.lua` file; the constants are locals at its top. */
export const loadScript = (file: URL, constants: Readonly<Record<string, string | number>> = {}): Script => {
  const locals = Object.entries(constants).map(
    ([name, value]) => `local ${name} = ${JSON.stringify(value)} `,
  );
  // On the first line: those of errors stay right.
  const lua = locals.join('') + readFileSync(file, 'utf8');
  return { lua, hash: createHash('sha1').update(lua).digest('hex') };
};

export const isMissingScript = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('NOSCRIPT');

export class RedisConnection {
  readonly #redis: RedisClient;
  readonly #patience: number;
  readonly #address: string;
  /** Undefined while connected. */
  #downSince: number | undefined = Date.now();
  #lastError: Error | undefined;
  /** Why this address can never be used. */
  #refusal: Error | undefined;
  /** The wait for a lost connection to come back. */
  #return: Promise<void> | undefined;
  #corked = false;
  readonly #last: (() => void)[] = [];

  constructor(address: RedisAddress, { patience = 3_000, onLost }: ConnectionSettings = {}) {
    this.#patience = patience;
    this.#address = placeName(address);
    this.#redis = openClient(settingsOf(address), patience);
    this.#redis.on('ready', () => {
      this.#downSince = undefined;
      this.#lastError = undefined;
    });
    // Also after each attempt to come back that fails.
    this.#redis.on('close', () => {
      this.#downSince ??= Date.now();
    });
    if (onLost !== undefined) watchConnections(this.#redis, onLost);
    this.#redis.on('error', (error: Error) => this.#failed(error));
    this.#redis.on('node error', (error: Error) => this.#failed(error));
  }

  /** Runs commands on the live connection; fails with `unavailable`, the operator's sentence as its cause. */
  async use<T>(work: (redis: RedisClient) => Promise<T>): Promise<T> {
    try {
      if (this.#redis.status !== 'ready') await this.#ready();
      this.#cork();
      return await work(this.#redis);
    } catch (error) {
      throw fail('unavailable', 'The state store is unavailable', { cause: this.#explain(error) });
    }
  }

  /** Keys are in one hash slot: a cluster has them on one node. */
  run(script: Script, keys: readonly string[], values: ScriptValues): Promise<unknown> {
    return this.use(async (redis) => {
      try {
        return await redis.evalsha(script.hash, keys.length, ...keys, ...values);
      } catch (error) {
        if (!isMissingScript(error)) throw error;
        return await redis.eval(script.lua, keys.length, ...keys, ...values);
      }
    });
  }

  /** Runs work at the end of this event loop turn: what it sends is written with the rest. */
  atTurnEnd(work: () => void): void {
    this.#last.push(work);
    this.#cork();
  }

  /** On every node that holds keys. */
  onEach<T>(work: (redis: Redis) => Promise<T>): Promise<T[]> {
    return this.use((redis) => Promise.all(primariesOf(redis).map(work)));
  }

  /** Resolves when Redis answers; rejects with one sentence for the operator. */
  async check(): Promise<void> {
    try {
      if (this.#redis.status !== 'ready') await this.#ready();
      const redis = this.#redis;
      // Through the same connections as calls, to whichever nodes have the partitions now.
      if (redis instanceof Cluster)
        await Promise.all(partitions.map((each) => redis.exists(`sluice:${partitionTag(each)}`)));
      else await redis.ping();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  /** Commands of the same event loop turn are written with one system call. */
  #cork(): void {
    if (this.#corked) return;
    this.#corked = true;
    const streams = primariesOf(this.#redis)
      .filter(({ status }) => status === 'ready')
      .map(({ stream }) => stream);
    for (const stream of streams) stream.cork();
    setImmediate(() => {
      for (const work of this.#last.splice(0)) work();
      this.#corked = false;
      for (const stream of streams) stream.uncork();
    });
  }

  #failed(error: Error): void {
    this.#lastError = error;
    if (!error.message.includes('DB index is out of range')) return;
    // The library would go on in database 0, which may be somebody else's.
    this.#refusal = error;
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
    // Of a cluster that is ready, the last error may be that of another node, long ago.
    const last = this.#redis.status === 'ready' ? undefined : this.#lastError;
    const reason = this.#refusal ?? last ?? error;
    const words = (reason instanceof Error ? reason.message || reason.name : String(reason)).replace(
      /\.+$/,
      '',
    );
    return new Error(`Redis at ${this.#address} cannot be used: ${words}.`, { cause: error });
  }
}
