/** Opens every connection to Redis: to a server, the primary that sentinels name, or a cluster. */
import { Cluster, Redis } from 'ioredis';
import { exponentialBackoff } from '../helpers/backoff.ts';
import './redis-corrections.ts';
import type { RedisPlace, RedisSettings } from './redis-settings.ts';

export type RedisClient = Redis | Cluster;

/** Before a lost connection is opened again. */
export const reconnectBackoff = exponentialBackoff({ first: 100, most: 1_000 });

/** Commands that cannot be sent, or whose reply is lost, fail: they are never kept or sent twice. */
export const openClient = (settings: RedisSettings, patience: number): RedisClient => {
  const { place } = settings;
  const common = {
    ...accessTo(settings, patience),
    // A resent script may run twice, and then denies what its first run did: a lost answer is an error instead.
    autoResendUnfulfilledCommands: false,
    commandTimeout: patience,
    // A peer that vanished without a word is dropped, and dialled again.
    socketTimeout: patience + 1_000,
  };
  if (place.topology === 'cluster')
    return new Cluster([...place.seeds], {
      redisOptions: common,
      // Names stay names, for certificates; they are looked up with each connection.
      dnsLookup: (name, callback) => callback(null, name),
      clusterRetryStrategy: reconnectBackoff,
      slotsRefreshTimeout: patience,
      // The library would send again what a lost connection may have carried out, or what nobody waits for any more.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: 50,
      maxRedirections: 5,
    });
  return new Redis({
    ...common,
    ...serverAt(place, settings, patience),
    // The library's own queue has no bound and sends writes long after their callers gave up.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectBackoff,
    // After a failover the old primary only reads: look up who is primary now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
};

/** One connection to any node, which gets all messages; it ends when it is lost. `attempt` chooses among seeds. */
export const openSubscriber = (settings: RedisSettings, patience: number, attempt: number): Redis => {
  const { place } = settings;
  const where =
    place.topology === 'cluster'
      ? place.seeds[attempt % place.seeds.length]
      : serverAt(place, settings, patience);
  return new Redis({
    ...accessTo(settings, patience),
    ...where,
    commandTimeout: patience,
    maxRetriesPerRequest: null,
    retryStrategy: () => null,
    // Sentinels that do not know a primary are asked again by the next attempt.
    sentinelRetryStrategy: () => null,
  });
};

/** Each holds a part of the keys. */
export const primariesOf = (client: RedisClient): readonly Redis[] =>
  client instanceof Cluster ? client.nodes('master') : [client];

/** Calls back whenever a connection that was ready is lost, to whichever node. */
export const watchConnections = (client: RedisClient, onLost: () => void): void => {
  const watch = (connection: Redis): void => {
    connection.on('ready', () => connection.once('close', onLost));
  };
  if (client instanceof Cluster) client.on('+node', watch);
  else watch(client);
};

const accessTo = ({ user, tls }: RedisSettings, patience: number) => ({
  ...user,
  ...(tls === undefined ? {} : { tls: { ...tls } }),
  connectTimeout: patience,
  // On a stream that is gone already the library waits this out before the process may end.
  disconnectTimeout: 100,
});

const serverAt = (
  place: Exclude<RedisPlace, { readonly topology: 'cluster' }>,
  { tls }: RedisSettings,
  patience: number,
) => {
  if (place.topology === 'server') return { ...place.host, db: place.db };
  if (place.topology === 'socket') return { path: place.path, db: place.db };
  const { sentinels, name, db, sentinelUser } = place;
  return {
    sentinels: sentinels.map((each) => ({ ...each })),
    name,
    db,
    ...(sentinelUser.username === undefined ? {} : { sentinelUsername: sentinelUser.username }),
    ...(sentinelUser.password === undefined ? {} : { sentinelPassword: sentinelUser.password }),
    ...(tls === undefined ? {} : { sentinelTLS: { ...tls }, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: patience,
    sentinelRetryStrategy: reconnectBackoff,
  };
};
