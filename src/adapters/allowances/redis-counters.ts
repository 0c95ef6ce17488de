/** Typed calls of the allowances script in Redis; they fail with `unavailable`. */
import type { Allowance, Claim } from '../../ports/allowances.ts';
import { loadScript, RedisConnection, type Script } from '../redis.ts';
import { micro, RedisProcesses } from '../redis-processes.ts';
import { type Decision, type DecisionReply, decisionOf, type Sums, spanOf, wordsOf } from './redis-words.ts';

interface RedisCountersOptions {
  readonly url: string;
  /** First part of every key and channel. */
  readonly prefix: string;
  /** The name of this process, unique among all. */
  readonly process: string;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly leaseMs: number;
  /** Milliseconds until a call without a response counts as failed. */
  readonly patience: number;
  /** Virtual time instead of the server's clock. */
  readonly now?: (() => number) | undefined;
  /** The connection broke: others may decide by themselves from here on. */
  onLost(): void;
}

/** What a dead process left: ids, the oldest of them reserved at `since`, in Unix milliseconds. */
export interface Remains {
  readonly process: string;
  readonly since: number;
  readonly ids: readonly string[];
}

/** The process of reservations that outlive the one that made them. */
export const lasting = 'lasting';

/** Ids that are settled, in one call. */
const batchSize = 500;

export class RedisCounters {
  readonly processes: RedisProcesses;
  /** Of messages to all: how full windows are. */
  readonly usageChannel: string;
  readonly #connection: RedisConnection;
  readonly #options: RedisCountersOptions;
  readonly #script: Script;
  readonly #prefix: string;

  constructor(options: RedisCountersOptions) {
    const { url, patience, process, leaseMs, now, onLost } = options;
    this.#options = options;
    this.#prefix = `${options.prefix}allowances:`;
    this.#connection = new RedisConnection(url, { patience, onLost });
    this.processes = new RedisProcesses(this.#connection, {
      prefix: this.#prefix,
      process,
      leaseMs,
      keptMs: 60_000,
      now,
    });
    this.usageChannel = `${this.#prefix}usage`;
    this.#script = loadScript(new URL('./allowances.lua', import.meta.url), {
      prefix: this.#prefix,
      leaseUs: micro(leaseMs),
      processes: this.processes.key,
      epochKey: this.processes.epochKey,
      usage: this.usageChannel,
    });
  }

  /** `ageMs`: of one that was reserved so long ago, and may be known; whatever is left. */
  async reserve(process: string, id: string, claims: readonly Claim[], ageMs?: number): Promise<Decision> {
    const age = ageMs === undefined ? '' : micro(ageMs);
    const reply = await this.#run<DecisionReply>(
      'reserve',
      process,
      id,
      ageMs === undefined ? this.processes.epoch : '',
      age,
      ...claims.flatMap(wordsOf),
    );
    return decisionOf(reply);
  }

  settle(process: string, id: string, used: readonly number[]): Promise<Sums> {
    return this.#run('settle', process, id, ...used);
  }

  async charge(process: string, id: string, cost: number): Promise<void> {
    await this.#run('charge', process, id, cost);
  }

  async seed({ name, span }: Allowance, spent: number): Promise<void> {
    await this.#run('seed', name, spanOf(span), spent);
  }

  /** Redis may have lost some of what was settled. */
  async raise({ name, span }: Allowance, settled: number): Promise<void> {
    await this.#run('raise', name, spanOf(span), settled);
  }

  async recount(window: {
    readonly name: string;
    readonly ms: number;
    readonly used: number;
  }): Promise<void> {
    await this.#run('recount', this.#options.process, window.name, micro(window.ms), window.used);
  }

  /** Returns what this process may use of a period while Redis is unavailable. */
  share({ name, limit }: Allowance, amount: number): Promise<number> {
    return this.#run('share', this.#options.process, name, amount, limit);
  }

  /** These settlements need not be remembered any more. */
  async forget(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += batchSize)
      await this.#run('forget', this.#options.process, ...ids.slice(start, start + batchSize));
  }

  /** Used and reserved of each; used is negative for a period of which it is not known. */
  used(allowances: readonly Allowance[]): Promise<readonly number[]> {
    const claims = allowances.map((allowance) => ({ allowance, amount: 0 }));
    return this.#run('used', this.#options.process, ...claims.flatMap(wordsOf));
  }

  async died(process: string, usedShares: boolean, dueMs: number): Promise<void> {
    await this.#run('died', process, usedShares ? 1 : 0, micro(dueMs));
  }

  async due(): Promise<Remains | undefined> {
    const [process, oldest, ...ids] = await this.#run<[string?, number?, ...string[]]>('due');
    return process === undefined ? undefined : { process, since: (oldest ?? 0) / 1000, ids };
  }

  /** What is left of it was never billed. */
  async release(process: string): Promise<void> {
    await this.#run('release', process);
  }

  /** Ids of the reservations of a process, those included that it may not know to be settled. */
  reservations(process: string): Promise<string[]> {
    return this.#connection.use((redis) => redis.hkeys(`${this.#prefix}of:${process}`));
  }

  /** Processes that are not alive, have reservations, and were not reported to be dead. */
  abandoned(): Promise<string[]> {
    const first = `${this.#prefix}of:`;
    return this.#connection.use(async (redis) => {
      const [alive, dead] = await Promise.all([
        redis.zrange(this.processes.key, 0, '-1'),
        redis.zrange(`${this.#prefix}dead`, 0, '-1'),
      ]);
      const known = new Set([...alive, ...dead, lasting]);
      const found = new Set<string>();
      for (let cursor = '0'; ; ) {
        const [next, keys] = await redis.scan(cursor, 'MATCH', `${first}*`, 'COUNT', 1000);
        for (const key of keys) found.add(key.slice(first.length));
        cursor = next;
        if (cursor === '0') return [...found].filter((process) => !known.has(process));
      }
    });
  }

  /** What was reported to all processes, oldest first. */
  usage(): Promise<readonly string[]> {
    return this.#connection.use((redis) => redis.zrange(this.usageChannel, 0, '-1'));
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #run<Reply>(command: string, ...values: readonly (string | number)[]): Promise<Reply> {
    const { now } = this.#options;
    const time = now === undefined ? '' : micro(now());
    return this.#connection.run(this.#script, [this.#prefix], [command, time, ...values]) as Promise<Reply>;
  }
}
