/** Typed calls of the allowances script in Redis; they fail with `unavailable`. */
import type { Allowance, Claim } from '../../ports/allowances.ts';
import type { Clock } from '../admission/clock.ts';
import { loadScript, RedisConnection, type Script } from '../redis.ts';
import { type DurableScripts, openDurable } from '../redis-durable.ts';
import { partitionOf, partitions } from '../redis-partitions.ts';
import { micro, RedisProcesses } from '../redis-processes.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { type Decision, type DecisionReply, decisionOf, type Sums, spanOf, wordsOf } from './redis-words.ts';

interface RedisCountersOptions {
  readonly redis: RedisAddress;
  /** First part of every key and channel. */
  readonly prefix: string;
  /** The name of this process, unique among all. */
  readonly process: string;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly leaseMs: number;
  /** Milliseconds until a call without a response counts as failed. */
  readonly patience: number;
  readonly clock: Clock;
  /** Virtual time instead of the server's clock. */
  readonly now?: (() => number) | undefined;
  /** The connection broke: others may decide by themselves from here on. */
  onLost(): void;
}

/** What a dead process left in a partition: ids, the oldest of them reserved at `since`, in Unix milliseconds. */
export interface Remains {
  readonly partition: number;
  readonly process: string;
  readonly since: number;
  readonly ids: readonly string[];
}

/** A reservation in Redis: all that it claims is in one partition. */
export interface Entry {
  readonly partition: number;
  readonly process: string;
  readonly id: string;
}

/** The process of reservations that outlive the one that made them. */
export const lasting = 'lasting';

/** Ids that are settled, in one call. */
const batchSize = 500;

interface WindowUse {
  readonly name: string;
  readonly ms: number;
  readonly used: number;
}

/** Allowances of one owner, the first part of their names, are in one partition: a call claims most of them together. */
export const partitionOfAllowance = (name: string): number =>
  partitionOf(name.slice(0, Math.max(0, name.indexOf('/'))));

export class RedisCounters {
  readonly processes: RedisProcesses;
  /** Of messages to all: how full windows are. */
  readonly usageChannel: string;
  readonly #connection: RedisConnection;
  /** For reservations that no process reports again after a failover. */
  readonly #durable: DurableScripts;
  readonly #options: RedisCountersOptions;
  readonly #script: Script;

  constructor(options: RedisCountersOptions) {
    const { redis, patience, process, leaseMs, clock, now, onLost } = options;
    const prefix = `${options.prefix}allowances:`;
    this.#options = options;
    this.#connection = new RedisConnection(redis, { patience, onLost });
    this.#durable = openDurable(redis, this.#connection);
    this.processes = new RedisProcesses(this.#connection, {
      prefix,
      process,
      leaseMs,
      keptMs: 60_000,
      clock,
      now,
    });
    this.usageChannel = `${prefix}usage`;
    this.#script = loadScript(new URL('./allowances.lua', import.meta.url), {
      leaseUs: micro(leaseMs),
      usageChannel: this.usageChannel,
    });
  }

  /** `ageMs`: of one that was reserved so long ago, and may be known; whatever is left. */
  async reserve(
    { partition, process, id }: Entry,
    claims: readonly Claim[],
    ageMs?: number,
  ): Promise<Decision> {
    const reply = await this.#runOf<DecisionReply>(
      process,
      partition,
      'reserve',
      process,
      id,
      ageMs === undefined ? this.processes.epoch(partition) : '',
      ageMs === undefined ? '' : micro(ageMs),
      ...claims.flatMap(wordsOf),
    );
    return decisionOf(reply);
  }

  settle({ partition, process, id }: Entry, used: readonly number[]): Promise<Sums> {
    return this.#runOf(process, partition, 'settle', process, id, ...used);
  }

  async charge({ partition, process, id }: Entry, cost: number): Promise<void> {
    await this.#runOf(process, partition, 'charge', process, id, cost);
  }

  async seed({ name, span }: Allowance, spent: number): Promise<void> {
    await this.#run(partitionOfAllowance(name), 'seed', name, spanOf(span), spent);
  }

  /** Redis may have lost some of what was settled. */
  async raise({ name, span }: Allowance, settled: number): Promise<void> {
    await this.#run(partitionOfAllowance(name), 'raise', name, spanOf(span), settled);
  }

  async recount({ name, ms, used }: WindowUse): Promise<void> {
    const { process } = this.#options;
    await this.#run(partitionOfAllowance(name), 'recount', process, name, micro(ms), used);
  }

  /** Returns what this process may use of a period while Redis is unavailable. */
  share({ name, limit }: Allowance, amount: number): Promise<number> {
    return this.#run(partitionOfAllowance(name), 'share', this.#options.process, name, amount, limit);
  }

  /** These settlements need not be remembered any more. */
  async forget(partition: number, ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += batchSize)
      await this.#run(partition, 'forget', this.#options.process, ...ids.slice(start, start + batchSize));
  }

  /** Used and reserved of each, all in one partition; used is negative for a period of which it is not known. */
  used(partition: number, allowances: readonly Allowance[]): Promise<readonly number[]> {
    const claims = allowances.map((allowance) => ({ allowance, amount: 0 }));
    return this.#run(partition, 'used', this.#options.process, ...claims.flatMap(wordsOf));
  }

  async died(process: string, usedShares: boolean, dueMs: number): Promise<void> {
    await Promise.all(
      partitions.map((each) => this.#run(each, 'died', process, usedShares ? 1 : 0, micro(dueMs))),
    );
  }

  /** At most one process of each partition. */
  async due(): Promise<readonly Remains[]> {
    const all = await Promise.all(
      partitions.map(async (partition) => {
        const [process, oldest, ...ids] = await this.#run<[string?, number?, ...string[]]>(partition, 'due');
        return process === undefined ? [] : [{ partition, process, since: (oldest ?? 0) / 1000, ids }];
      }),
    );
    return all.flat();
  }

  /** What is left of it was never billed. */
  async release({ partition, process }: Pick<Remains, 'partition' | 'process'>): Promise<void> {
    await this.#run(partition, 'release', process);
  }

  /** The reservations of a process, those included that it may not know to be settled. */
  async reservations(process: string): Promise<readonly Entry[]> {
    const all = await this.#connection.use((redis) =>
      Promise.all(
        partitions.map(async (partition) => {
          const ids = await redis.hkeys(`${this.processes.base(partition)}of:${process}`);
          return ids.map((id) => ({ partition, process, id }));
        }),
      ),
    );
    return all.flat();
  }

  /** Processes that are not alive, have reservations, and were not reported to be dead. */
  async abandoned(): Promise<readonly string[]> {
    const [known, holders] = await Promise.all([this.#listed(), this.#holders()]);
    return [...holders].filter((process) => process !== lasting && !known.has(process));
  }

  /** What was reported to all processes, of each allowance the oldest first. */
  async usage(): Promise<readonly string[]> {
    const all = await this.#connection.use((redis) =>
      Promise.all(partitions.map((each) => redis.zrange(`${this.processes.base(each)}usage`, 0, '-1'))),
    );
    return all.flat();
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  async close(): Promise<void> {
    await this.#durable.close();
    await this.#connection.close();
  }

  /** Alive or known to be dead, in any partition. */
  async #listed(): Promise<ReadonlySet<string>> {
    const all = await this.#connection.use((redis) =>
      Promise.all(
        partitions.flatMap((each) =>
          ['processes', 'dead'].map((set) => redis.zrange(`${this.processes.base(each)}${set}`, 0, '-1')),
        ),
      ),
    );
    return new Set(all.flat());
  }

  async #holders(): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    await this.#connection.onEach(async (redis) => {
      for (let cursor = '0'; ; ) {
        const match = `${this.#options.prefix}allowances:{*}:of:*`;
        const [next, keys] = await redis.scan(cursor, 'MATCH', match, 'COUNT', 1000);
        for (const key of keys) found.add(key.slice(key.lastIndexOf(':') + 1));
        cursor = next;
        if (cursor === '0') return;
      }
    });
    return found;
  }

  #run<Reply>(partition: number, command: string, ...values: readonly (string | number)[]): Promise<Reply> {
    return this.#call<Reply>(this.#connection, partition, command, values);
  }

  #runOf<Reply>(
    process: string,
    partition: number,
    command: string,
    ...values: readonly (string | number)[]
  ): Promise<Reply> {
    const scripts = process === lasting ? this.#durable : this.#connection;
    return this.#call<Reply>(scripts, partition, command, values);
  }

  #call<Reply>(
    scripts: Pick<DurableScripts, 'run'>,
    partition: number,
    command: string,
    values: readonly (string | number)[],
  ): Promise<Reply> {
    const { now } = this.#options;
    const time = now === undefined ? '' : micro(now());
    const keys = [this.processes.base(partition)];
    return scripts.run(this.#script, keys, [command, time, ...values]) as Promise<Reply>;
  }
}
