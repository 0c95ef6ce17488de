/** The State port on Redis: records are hashes, listings and queues sorted sets, and each change one script. */
import type { ListQuery, State, StoredRecord } from '../../ports/state.ts';
import { type ConnectionSettings, loadScript, RedisConnection } from '../redis.ts';
import { openDurable } from '../redis-durable.ts';
import type { RedisAddress } from '../redis-settings.ts';

const script = loadScript(new URL('./state.lua', import.meta.url));

interface RedisStateSettings extends ConnectionSettings {
  /** First part of every key; one Redis can so serve several gateways. */
  readonly prefix?: string;
}

/** Records of one kind share a hash tag, so in a cluster they share a node and a script may touch them all. */
const layout = (prefix: string, kind: string): string => `${prefix}{${kind}}:`;

export const openRedisState = (
  redis: RedisAddress,
  { prefix = 'sluice:', ...settings }: RedisStateSettings = {},
): State => {
  const connection = new RedisConnection(redis, settings);
  const durable = openDurable(redis, connection, settings);
  const read = (command: string, kind: string, ...values: (string | number)[]) =>
    connection.run(script, [layout(prefix, kind)], [command, ...values]);
  const change = (command: string, kind: string, ...values: (string | number)[]) =>
    durable.run(script, [layout(prefix, kind)], [command, ...values]);

  return {
    create: async (kind, { id, owner, value, index }) => {
      const created = await change('create', kind, id, owner, JSON.stringify(value), ...queue(index));
      return created === 1;
    },

    get: async <T>(kind: string, id: string) => {
      const [version, owner, value] = await connection.use((redis) =>
        redis.hmget(`${layout(prefix, kind)}record:${id}`, 'version', 'owner', 'value'),
      );
      return typeof version === 'string' && typeof owner === 'string' && typeof value === 'string'
        ? toRecord<T>(id, version, owner, value)
        : undefined;
    },

    update: async (kind, id, version, { value, index }) => {
      const changed = await change('update', kind, id, version, JSON.stringify(value), ...queue(index));
      return changed === 1;
    },

    remove: async (kind, id, version) => (await change('remove', kind, id, version ?? '')) === 1,

    list: async <T>(kind: string, { owner, after, before, limit, order }: ListQuery) =>
      toRecords<T>(
        await read('list', kind, order, limit, ...given(owner), ...given(after), ...given(before)),
      ),

    due: async <T>(kind: string, query: { group: string; until: number; limit: number }) =>
      toRecords<T>(await read('due', kind, query.group, query.until, query.limit)),

    countDue: async (kind, query) => Number(await read('countDue', kind, query.group, query.until)),

    check: () => connection.check(),
    close: async () => {
      await durable.close();
      await connection.close();
    },
  };
};

/** Scripts take texts only: a flag tells an absent text from an empty one. */
const given = (text: string | undefined): [flag: number, text: string] =>
  text === undefined ? [0, ''] : [1, text];

const queue = (index: { group: string; due: number } | undefined): (string | number)[] =>
  index === undefined ? [0, '', 0] : [1, index.group, index.due];

const toRecord = <T>(id: string, version: string, owner: string, value: string): StoredRecord<T> => ({
  id,
  version: Number(version),
  owner,
  value: JSON.parse(value) as T,
});

const toRecords = <T>(reply: unknown): StoredRecord<T>[] =>
  (reply as [string, string, string, string][]).map(([id, version, owner, value]) =>
    toRecord<T>(id, version, owner, value),
  );
