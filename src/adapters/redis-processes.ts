/** The processes that share limits through Redis: heartbeats, their number, and whether Redis has lost its data. */
import type { Clock } from './admission/clock.ts';
import { loadScript, type RedisConnection, type Script } from './redis.ts';
import { partitions, partitionTag } from './redis-partitions.ts';

interface RedisProcessesOptions {
  /** First part of the keys. */
  readonly prefix: string;
  /** The name of this process, unique among all. */
  readonly process: string;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly leaseMs: number;
  /** Milliseconds that it has to be remembered whether data was lost. */
  readonly keptMs: number;
  readonly clock: Clock;
  /** Virtual time instead of the server's clock. */
  readonly now?: (() => number) | undefined;
}

/** Of all partitions together. */
export interface Heartbeat {
  /** Processes alive, this one included. */
  readonly processes: number;
  /** Those that have reported since to every partition. */
  readonly reportedSince: number;
  /** Every process starts nothing any more that the server does not count. */
  readonly allSettled: boolean;
  /** Of this process among them, from 0. */
  readonly rank: number;
  /** A server has lost data since the last heartbeat, or another one has taken its place. */
  readonly lost: boolean;
}

type Reply = [
  processes: number,
  reportedSince: number,
  settledSince: number,
  rank: number,
  time: number,
  epoch: string,
];

export class RedisProcesses {
  readonly #connection: RedisConnection;
  readonly #options: RedisProcessesOptions;
  readonly #script: Script;
  /** Of each partition's data, as last seen; empty: not yet. */
  readonly #epochs: string[] = partitions.map(() => '');
  /** The clock of each partition's server minus ours. */
  readonly #offsets: number[] = partitions.map(() => 0);

  constructor(connection: RedisConnection, options: RedisProcessesOptions) {
    const { leaseMs, keptMs } = options;
    this.#connection = connection;
    this.#options = options;
    this.#script = loadScript(new URL('./redis-processes.lua', import.meta.url), {
      leaseUs: micro(leaseMs),
      keptMs: Math.ceil(Math.max(2 * leaseMs, keptMs)),
    });
  }

  /** First part of a partition's keys. */
  base(partition: number): string {
    return `${this.#options.prefix}${partitionTag(partition)}:`;
  }

  epoch(partition: number): string {
    return this.#epochs[partition] ?? '';
  }

  /** `since` is a time of our clock, in milliseconds; `settled`: it starts nothing that the server does not count. */
  async heartbeat(since: number, settled: boolean): Promise<Heartbeat> {
    const before = [...this.#epochs];
    const replies = await Promise.all(partitions.map((each) => this.#beat(each, since, settled)));
    return {
      processes: Math.max(...replies.map(([processes]) => processes)),
      reportedSince: Math.min(...replies.map(([, reportedSince]) => reportedSince)),
      allSettled: replies.every(([processes, , settledSince]) => settledSince >= processes),
      rank: replies[0]?.[3] ?? 0,
      lost: before.some((epoch, partition) => epoch !== '' && epoch !== this.#epochs[partition]),
    };
  }

  async #beat(partition: number, since: number, settled: boolean): Promise<Reply> {
    const { process, now, clock } = this.#options;
    const time = now === undefined ? '' : micro(now());
    const then = micro(since + (this.#offsets[partition] ?? 0));
    const reply = (await this.#connection.run(
      this.#script,
      [this.base(partition)],
      [time, process, then, settled ? 1 : 0, this.epoch(partition)],
    )) as Reply;
    this.#offsets[partition] = reply[4] / 1000 - clock.now();
    this.#epochs[partition] = reply[5];
    return reply;
  }

  async depart(): Promise<void> {
    await this.#connection.use((redis) =>
      Promise.all(partitions.map((each) => redis.zrem(`${this.base(each)}processes`, this.#options.process))),
    );
  }
}

export const micro = (milliseconds: number): number => Math.round(milliseconds * 1000);
