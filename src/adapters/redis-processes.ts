/** The processes that share limits through Redis: heartbeats, their number, and whether Redis has lost its data. */
import { loadScript, type RedisConnection, type Script } from './redis.ts';

interface RedisProcessesOptions {
  /** First part of the keys. */
  readonly prefix: string;
  /** The name of this process, unique among all. */
  readonly process: string;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly leaseMs: number;
  /** Milliseconds that it has to be remembered whether data was lost. */
  readonly keptMs: number;
  /** Virtual time instead of the server's clock. */
  readonly now?: (() => number) | undefined;
}

export interface Heartbeat {
  /** Processes alive, this one included. */
  readonly processes: number;
  readonly reportedSince: number;
  /** Those that start nothing which the server does not count. */
  readonly settledSince: number;
  /** Of this process among them, from 0. */
  readonly rank: number;
  /** Of the server, in milliseconds. */
  readonly time: number;
  /** The server has lost its data since the last heartbeat. */
  readonly lost: boolean;
}

export class RedisProcesses {
  readonly #connection: RedisConnection;
  readonly #options: RedisProcessesOptions;
  readonly #script: Script;
  /** Where processes are, by when they count as dead. */
  readonly key: string;
  readonly epochKey: string;
  /** Of the server's data, as last seen; empty: not yet. */
  epoch = '';

  constructor(connection: RedisConnection, options: RedisProcessesOptions) {
    const { prefix, leaseMs, keptMs } = options;
    this.#connection = connection;
    this.#options = options;
    this.key = `${prefix}processes`;
    this.epochKey = `${prefix}epoch`;
    this.#script = loadScript(new URL('./redis-processes.lua', import.meta.url), {
      leaseUs: micro(leaseMs),
      keptMs: Math.ceil(Math.max(2 * leaseMs, keptMs)),
    });
  }

  /** `since` is a time of the server, in milliseconds; `settled`: it starts nothing that the server does not count. */
  async heartbeat(since: number, settled: boolean): Promise<Heartbeat> {
    const { process, now } = this.#options;
    const [processes, reportedSince, settledSince, rank, time, epoch] = (await this.#connection.run(
      this.#script,
      [this.key, `{${this.key}}:settled`, this.epochKey],
      [now === undefined ? '' : micro(now()), process, micro(since), settled ? 1 : 0, this.epoch],
    )) as [number, number, number, number, number, string];
    const lost = this.epoch !== '' && this.epoch !== epoch;
    this.epoch = epoch;
    return { processes, reportedSince, settledSince, rank, time: time / 1000, lost };
  }

  async depart(): Promise<void> {
    await this.#connection.use((redis) => redis.zrem(this.key, this.#options.process));
  }
}

export const micro = (milliseconds: number): number => Math.round(milliseconds * 1000);
