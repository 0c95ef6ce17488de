/** Typed calls of the admission script in Redis; they fail with `unavailable`. */
import type { LimitKind } from '../../../schemas/limits.ts';
import type { AdmissionRequest, LeaseUsage } from '../../ports/admission.ts';
import { loadScript, RedisConnection, type Script } from '../redis.ts';
import { partitionOf, partitions } from '../redis-partitions.ts';
import { type Heartbeat, micro, RedisProcesses } from '../redis-processes.ts';
import type { RedisAddress } from '../redis-settings.ts';
import type { Clock } from './clock.ts';
import { type GateBatch, GateBatches } from './gate-batches.ts';
import type { Rules } from './rules.ts';

interface RedisGatesOptions {
  readonly redis: RedisAddress;
  /** First part of every key and channel. */
  readonly prefix: string;
  /** The name of this process, unique among all. */
  readonly process: string;
  readonly rules: Rules;
  /** Milliseconds without renewal after which a lease or a queue position is lost. */
  readonly leaseMs: number;
  /** Milliseconds until a call without a response counts as failed. */
  readonly patience: number;
  readonly clock: Clock;
  /** Virtual time instead of the server's clock. */
  readonly now?: (() => number) | undefined;
  /** The connection broke: others may decide by themselves from here on. */
  onLost(): void;
}

export type Decision =
  /** `starts`: in the window, this one included. */
  | { readonly kind: 'started'; readonly starts: number }
  | { readonly kind: 'waits'; readonly position: number }
  | { readonly kind: 'rateReached'; readonly waitMs: number; readonly limit: LimitKind }
  | { readonly kind: 'queueFull'; readonly waitMs: number }
  | { readonly kind: 'lost' };

/** One of the two is called, once. */
export interface Asker {
  readonly id: string;
  decided(decision: Decision): void;
  failed(error: unknown): void;
}

/** Requests in one call, during which the server does nothing else. */
const mostAsked = 100;

/** A slot or queue position that is given back. */
export interface Release {
  readonly id: string;
  readonly request: AdmissionRequest;
  readonly heldMs: number;
  readonly usage?: LeaseUsage | undefined;
}

export type Standing = 'waits' | 'runs' | 'unknown';

/** All that one process has at one gate. */
export interface Holdings {
  readonly request: AdmissionRequest;
  /** Starts that the server does not know of. */
  starts: number;
  /** All of its starts in the window; undefined: the server knows them. */
  own?: number | undefined;
  readonly runners: string[];
  readonly waiters: string[];
}

export class RedisGates {
  readonly #connection: RedisConnection;
  readonly #options: RedisGatesOptions;
  readonly #script: Script;
  readonly #processes: RedisProcesses;
  readonly #asking = new GateBatches<Asker>(mostAsked);
  /** Of messages to this process. */
  readonly channel: string;
  /** Of messages to all: how full windows are. */
  readonly usageChannel: string;

  constructor(options: RedisGatesOptions) {
    const { redis, prefix, patience, process, rules, leaseMs, clock, onLost } = options;
    const channels = `${prefix}admission:process:`;
    this.#options = options;
    this.#connection = new RedisConnection(redis, { patience, onLost });
    const { windowMs } = rules;
    this.#processes = new RedisProcesses(this.#connection, {
      prefix: `${prefix}admission:`,
      process,
      leaseMs,
      keptMs: windowMs,
      clock,
      now: options.now,
    });
    this.channel = channels + process;
    this.usageChannel = `${prefix}admission:usage`;
    this.#script = loadScript(new URL('./admission.lua', import.meta.url), {
      channels,
      usageChannel: this.usageChannel,
      windowUs: micro(windowMs),
      leaseUs: micro(leaseMs),
      queueLength: rules.queueLength,
      queueUs: micro(rules.queueMs),
    });
  }

  /** Requests of one gate in one turn of the event loop are decided in one call, in their order. */
  admit(asker: Asker, request: AdmissionRequest): void {
    if (this.#asking.isEmpty)
      this.atTurnEnd(() => {
        for (const batch of this.#asking.take()) void this.#decide(batch);
      });
    this.#asking.add(request, asker);
  }

  atTurnEnd(work: () => void): void {
    this.#connection.atTurnEnd(work);
  }

  async release({ request, items }: GateBatch<Release>): Promise<void> {
    const words = items.map(({ id, heldMs }) => `${id}=${micro(heldMs)}`);
    await this.#run('release', [request], words.join(' '));
  }

  /** Ends a wait unless the request was started meanwhile. */
  async giveUp(id: string, request: AdmissionRequest): Promise<{ standing: Standing; waitMs: number }> {
    const [standing, wait = 0] = await this.#run<[Standing, number?]>('giveUp', [request], id);
    return { standing, waitMs: wait / 1000 };
  }

  /** Keeps all of it alive in one call, within one partition; returns the standing of each waiter, in order. */
  async renew(holdings: readonly Holdings[]): Promise<Standing[]> {
    const requests = holdings.map(({ request }) => request);
    const values = holdings.flatMap(({ request, starts, own = -1, runners, waiters }) => [
      starts,
      own,
      request.limits.requests_per_minute,
      runners.length,
      waiters.length,
      ...runners,
      ...waiters,
    ]);
    return await this.#run<Standing[]>('renew', requests, this.#options.process, ...values);
  }

  heartbeat(since: number, settled: boolean): Promise<Heartbeat> {
    return this.#processes.heartbeat(since, settled);
  }

  /** What was reported to all processes, of each gate the oldest first. */
  async usage(): Promise<readonly string[]> {
    const all = await this.#connection.use((redis) =>
      Promise.all(partitions.map((each) => redis.zrange(`${this.#processes.base(each)}usage`, 0, '-1'))),
    );
    return all.flat();
  }

  depart(): Promise<void> {
    return this.#processes.depart();
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Each asker gets its decision, or the error of the call. */
  async #decide({ request, items: askers }: GateBatch<Asker>): Promise<void> {
    const { concurrency, requests_per_minute } = request.limits;
    const epoch = this.#processes.epoch(partitionOf(request.subscription));
    const ids = askers.map(({ id }) => id).join(' ');
    let words: string[];
    try {
      const reply = await this.#run<string>('admit', [request], concurrency, requests_per_minute, epoch, ids);
      words = reply.split(' ');
      if (words.length !== askers.length) throw new Error('Redis has not decided on every request.');
    } catch (error) {
      for (const asker of askers) asker.failed(error);
      return;
    }
    for (const [place, asker] of askers.entries()) asker.decided(decisionOf(words[place] ?? ''));
  }

  /** Of one partition's requests. */
  #run<Reply>(
    command: string,
    requests: readonly AdmissionRequest[],
    ...values: readonly (string | number)[]
  ): Promise<Reply> {
    const { now } = this.#options;
    const time = now === undefined ? '' : micro(now());
    const keys = [this.#base(requests[0] as AdmissionRequest)];
    for (const request of requests) keys.push(this.gate(request));
    return this.#connection.run(this.#script, keys, [command, time, ...values]) as Promise<Reply>;
  }

  #base({ subscription }: AdmissionRequest): string {
    return this.#processes.base(partitionOf(subscription));
  }

  /** The subscription's length tells where it ends, whatever it is made of. */
  gate(request: AdmissionRequest): string {
    const { subscription, model } = request;
    return `${this.#base(request)}gate:${subscription.length}:${subscription}:${model}:`;
  }
}

const decisionOf = (word: string): Decision => {
  const [kind, number, limit] = word.split('=') as [Decision['kind'], string, LimitKind];
  if (kind === 'started') return { kind, starts: Number(number) };
  if (kind === 'lost') return { kind };
  if (kind === 'waits') return { kind, position: Number(number) };
  return { kind, waitMs: Number(number) / 1000, limit };
};
