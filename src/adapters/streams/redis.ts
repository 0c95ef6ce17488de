/** The Streams port on Redis: any gateway reads a stream while the one that writes it lives, and what it wrote after that. */
import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { fail } from '../../errors.ts';
import { within } from '../../helpers/within.ts';
import type {
  KeptStream,
  LastEvents,
  NewStream,
  StreamLog,
  StreamSource,
  StreamStats,
  Streams,
} from '../../ports/streams.ts';
import { type Channel, openChannel } from '../redis-channel.ts';
import type { RedisAddress } from '../redis-settings.ts';
import { lastEvent } from './event-text.ts';
import type { LocalStreams } from './local.ts';
import type { Log } from './log.ts';
import { RedisMirror } from './redis-mirror.ts';
import { loseIfDead, missesLoss, pollMs, type ReaderParts, RedisReader } from './redis-reader.ts';
import { RedisStore, type StreamRecord } from './redis-store.ts';

export interface RedisStreamsOptions {
  /** What this gateway writes. */
  readonly local: LocalStreams;
  readonly lost: LastEvents;
  readonly log?: Logger | undefined;
  readonly prefix?: string;
  /** Milliseconds until a gateway that is silent counts as dead. */
  readonly deadMs?: number;
  readonly patience?: number;
}

/** For another gateway to end a stream that it writes. */
const cancelMs = 5_000;
/** For the last events at the end of this gateway. */
const flushMs = 2_000;

export class RedisStreams implements Streams {
  readonly #local: LocalStreams;
  readonly #log: Logger | undefined;
  readonly #store: RedisStore;
  readonly #channel: Channel;
  readonly #parts: ReaderParts;
  readonly #deadMs: number;
  readonly #mirrors = new Map<string, RedisMirror>();
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #heartbeat: NodeJS.Timeout;
  #resumed = 0;
  #lost = 0;

  constructor(redis: RedisAddress, options: RedisStreamsOptions) {
    const { local, lost, log, prefix = 'sluice:', deadMs = 10_000, patience = 3_000 } = options;
    const instance = randomBytes(8).toString('hex');
    this.#local = local;
    this.#log = log;
    this.#deadMs = deadMs;
    this.#store = new RedisStore(redis, { prefix, instance, patience });
    this.#channel = openChannel({
      redis,
      channels: [RedisStore.channel(prefix, instance)],
      patience,
      onMessage: (_, text) => this.#receive(text.split(' ')),
      onSubscribed: () => undefined,
      onLost: () => undefined,
    });
    this.#parts = {
      store: this.#store,
      instance,
      lost,
      onLost: () => {
        this.#lost++;
      },
      grown: (id, milliseconds) => this.#grown(id, milliseconds),
    };
    local.onAbandoned = (id) => void this.#remove(id);
    this.#heartbeat = setInterval(() => this.#beat(), deadMs / 4).unref();
  }

  get mostGraceMs(): number {
    return this.#local.mostGraceMs;
  }

  open(stream: NewStream): StreamLog {
    const log = this.#local.openLog(stream);
    return {
      publish: () => this.#publish(log),
      append: (text, count) => log.append(text, count),
      end: (error) => log.end(error),
      read: (backpressure) => log.read(-1, backpressure),
      discard: () => this.#local.drop(log),
    };
  }

  async #publish(log: Log): Promise<void> {
    const { id, subscription } = log.stream;
    const mirror = new RedisMirror(log, this.#store, this.#log);
    log.publish();
    try {
      await this.#store.open(id, subscription, mirror.ttlMs);
    } catch (error) {
      // Here it can be read all the same.
      mirror.giveUp('Redis is unavailable', error);
      return;
    }
    this.#mirrors.set(id, mirror);
    void mirror.done.then(() => this.#mirrors.delete(id));
    mirror.start();
  }

  async find(id: string, subscription: string): Promise<KeptStream | undefined> {
    const own = await this.#local.find(id, subscription);
    if (own !== undefined)
      return {
        ...own,
        remove: async () => {
          await own.remove();
          await this.#remove(id);
        },
      };
    const record = await this.#store.record(id);
    if (record === undefined || record.removed || record.subscription !== subscription) return undefined;
    this.#store.send(record.holder, `read ${id} -1 ${this.#parts.instance}`);
    return this.#kept(id, record);
  }

  /** Once its last events are there. What cannot be removed expires. */
  async #remove(id: string): Promise<void> {
    await this.#mirrors.get(id)?.finish();
    await this.#store
      .remove(id)
      .catch((error: unknown) => this.#log?.warn({ err: error }, 'stream not removed'));
  }

  #kept(id: string, record: StreamRecord): KeptStream {
    const { first, ended, opening } = record;
    return {
      first,
      ended,
      isDone: (after) => ended && after >= record.next - 1 && !missesLoss(record, after + 1),
      opening,
      closing: async () => lastEvent((await this.#store.lastEntry(id))?.text ?? opening),
      read: (after, backpressure) =>
        new Observable((subscriber) => {
          this.#resumed++;
          const reader = new RedisReader(this.#parts, id, after, subscriber, backpressure);
          backpressure.attach(reader);
          subscriber.add(() => {
            backpressure.detach(reader);
            reader.close();
          });
          void reader.run();
        }),
      cancel: () => this.#cancel(id),
      remove: async () => {
        this.#store.send(record.holder, `remove ${id}`);
        await this.#store.remove(id);
      },
      fail: undefined,
    };
  }

  async #cancel(id: string): Promise<void> {
    for (const until = performance.now() + cancelMs; performance.now() < until; ) {
      const record = await this.#store.record(id);
      if (record === undefined || record.ended) return;
      if (await loseIfDead(this.#parts, id, record)) return;
      // It may be lost on its way: the next one is not.
      this.#store.send(record.holder, `cancel ${id} ${this.#parts.instance}`);
      await this.#grown(id, pollMs);
    }
    throw fail('unavailable', 'The gateway that writes the stream does not respond; retry');
  }

  /** Messages of other gateways. */
  #receive([word, id = '', ...values]: readonly string[]): void {
    const log = this.#local.logs.get(id);
    switch (word) {
      case 'grew':
        for (const wake of this.#waiting.get(id) ?? []) wake();
        break;
      case 'read':
        if (log === undefined) break;
        if (!log.ended) log.touched = performance.now();
        log.readUntilEvent(Number(values[0]));
        this.#mirrors.get(id)?.follow(values[1] ?? '');
        break;
      case 'cancel':
        if (log === undefined) break;
        this.#mirrors.get(id)?.follow(values[0] ?? '');
        this.#local.cancel(log);
        break;
      case 'remove':
        if (log !== undefined) this.#local.drop(log);
    }
  }

  #grown(id: string, milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting);
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(id);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds).unref();
      waiting.add(wake);
    });
  }

  /** Those that do not grow are kept in Redis, too. */
  #beat(): void {
    const store = this.#store;
    store.beat(this.#deadMs).catch(() => undefined);
    for (const [id, mirror] of this.#mirrors) store.extend(id, mirror.ttlMs).catch(() => undefined);
  }

  running(): readonly StreamSource[] {
    return this.#local.running();
  }

  stats(): StreamStats {
    const stats = this.#local.stats();
    return { ...stats, resumed: stats.resumed + this.#resumed, lost: this.#lost };
  }

  async check(): Promise<void> {
    await this.#store.check();
    await this.#channel.ready();
    await this.#store.beat(this.#deadMs);
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.#local.shutDown();
    await within(flushMs, Promise.all([...this.#mirrors.values()].map(({ done }) => done)), () => undefined);
    for (const mirror of [...this.#mirrors.values()]) mirror.close();
    await this.#store.leave().catch(() => undefined);
    this.#channel.close();
    await this.#store.close();
    await this.#local.close();
  }
}
