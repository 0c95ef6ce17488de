/** The logs of resumable streams in Redis: one script for each change, messages between gateways. */
import type { StreamText } from '../../ports/streams.ts';
import { loadScript, RedisConnection } from '../redis.ts';
import type { RedisAddress } from '../redis-settings.ts';

const script = loadScript(new URL('./streams.lua', import.meta.url));

export interface StreamRecord {
  /** The gateway that writes it. */
  readonly holder: string;
  readonly subscription: string;
  readonly ended: boolean;
  readonly next: number;
  readonly first: number;
  readonly opening: string;
  /** Number of the first event that was written because its gateway had died. */
  readonly lostFrom: number | undefined;
  /** No new reader finds it; present ones read on. */
  readonly removed: boolean;
}

/** Whole events from one number up to another. */
export interface StreamEntry {
  readonly first: number;
  readonly next: number;
  readonly text: string;
}

export interface Appended {
  readonly first: number;
  readonly next: number;
  readonly text: string;
  /** Number of the first event that is kept. */
  readonly firstKept: number;
  /** The first event, with the text that holds it. */
  readonly opening: string;
  readonly ended: boolean;
  readonly ttlMs: number;
}

/** Entries of one reply; each has at most as much as is appended at once. */
const entriesAtOnce = 8;
/** For readers that are about to get the last events. */
const removedMs = 5_000;

export class RedisStore {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  /** This gateway. */
  readonly #instance: string;

  constructor(
    redis: RedisAddress,
    options: { readonly prefix: string; readonly instance: string; patience: number },
  ) {
    this.#connection = new RedisConnection(redis, { patience: options.patience });
    this.#prefix = options.prefix;
    this.#instance = options.instance;
  }

  /** Both keys of a stream in one slot of a cluster. */
  #keys(id: string): [record: string, log: string] {
    const record = `${this.#prefix}stream:{${id}}`;
    return [record, `${record}:log`];
  }

  #run(id: string, ...values: (string | number)[]): Promise<unknown> {
    return this.#connection.run(script, this.#keys(id), values);
  }

  open(id: string, subscription: string, ttlMs: number): Promise<unknown> {
    return this.#run(id, 'open', this.#instance, subscription, ttlMs);
  }

  /** False: another gateway has ended the stream, or Redis has lost it. */
  async append(
    id: string,
    { first, next, text, firstKept, opening, ended, ttlMs }: Appended,
  ): Promise<boolean> {
    const state = ended ? 'ended' : 'running';
    return (
      (await this.#run(id, 'append', this.#instance, first, next, text, firstKept, opening, state, ttlMs)) ===
      1
    );
  }

  /** Writes the last events of a stream whose gateway has died; false: somebody else did. */
  async lose(
    id: string,
    { holder, next }: StreamRecord,
    last: { text: string; count: number },
  ): Promise<boolean> {
    return (await this.#run(id, 'lose', holder, next, next + last.count, last.text)) === 1;
  }

  async record(id: string): Promise<StreamRecord | undefined> {
    const [key] = this.#keys(id);
    const names = ['holder', 'subscription', 'state', 'next', 'first', 'opening', 'lost', 'removed'];
    const [holder, subscription, state, next, first, opening, lost, removed] = await this.#connection.use(
      (redis) => redis.hmget(key, ...names),
    );
    if (typeof holder !== 'string' || typeof subscription !== 'string') return undefined;
    return {
      holder,
      subscription,
      ended: state === 'ended',
      next: Number(next),
      first: Number(first),
      opening: opening ?? '',
      lostFrom: typeof lost === 'string' ? Number(lost) : undefined,
      removed: typeof removed === 'string',
    };
  }

  /** Entries with this event and those after it. */
  async entries(id: string, event: number): Promise<readonly StreamEntry[]> {
    const [, log] = this.#keys(id);
    const found = await this.#connection.use((redis) =>
      redis.xrange(log, `(${event}-0`, '+', 'COUNT', entriesAtOnce),
    );
    return found.map(entryOf);
  }

  async lastEntry(id: string): Promise<StreamEntry | undefined> {
    const [, log] = this.#keys(id);
    const [found] = await this.#connection.use((redis) => redis.xrevrange(log, '+', '-', 'COUNT', 1));
    return found === undefined ? undefined : entryOf(found);
  }

  /** No new reader finds it; present ones have a moment for the last events. */
  async remove(id: string): Promise<void> {
    const [record, log] = this.#keys(id);
    await this.#connection.use((redis) =>
      redis.multi().hset(record, 'removed', 1).pexpire(record, removedMs).pexpire(log, removedMs).exec(),
    );
  }

  async extend(id: string, ttlMs: number): Promise<void> {
    const [record, log] = this.#keys(id);
    await this.#connection.use((redis) => redis.multi().pexpire(record, ttlMs).pexpire(log, ttlMs).exec());
  }

  #alive(instance: string): string {
    return `${this.#prefix}streams:alive:${instance}`;
  }

  async beat(ttlMs: number): Promise<void> {
    await this.#connection.use((redis) => redis.set(this.#alive(this.#instance), '1', 'PX', ttlMs));
  }

  async isAlive(instance: string): Promise<boolean> {
    return (await this.#connection.use((redis) => redis.exists(this.#alive(instance)))) === 1;
  }

  async leave(): Promise<void> {
    await this.#connection.use((redis) => redis.del(this.#alive(this.#instance)));
  }

  static channel(prefix: string, instance: string): string {
    return `${prefix}streams:${instance}`;
  }

  /** To one gateway; a message that is lost is repeated, or made up for by polling. */
  send(instance: string, message: string): void {
    const channel = RedisStore.channel(this.#prefix, instance);
    this.#connection.use((redis) => redis.publish(channel, message)).catch(() => undefined);
  }

  check(): Promise<void> {
    return this.#connection.check();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

const entryOf = ([id, fields]: [string, string[]]): StreamEntry => {
  const value = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
  return { first: Number(value('n')), next: Number(id.split('-')[0]), text: value('b') };
};

export const textOf = (text: StreamText): string =>
  typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
