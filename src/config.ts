/** Turns the environment into one checked configuration. */
import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import type { AdmissionConfig } from './adapters/admission/open.ts';
import { type S3Settings, s3Settings } from './adapters/blobs/s3-settings.ts';
import type { KafkaSettings } from './adapters/events/kafka-client.ts';
import { kafkaSettings } from './adapters/events/kafka-settings.ts';
import { type ClickHouseSettings, clickHouseSettings } from './adapters/ledger/clickhouse-settings.ts';
import { type RedisSettings, redisSettings } from './adapters/redis-settings.ts';
import type { StreamsConfig } from './adapters/streams/open.ts';
import { type QdrantSettings, qdrantSettings } from './adapters/vectors/qdrant-settings.ts';
import {
  ConfigError,
  type Environment,
  environment,
  flag,
  integer,
  networks,
  oneOf,
  text,
  url,
} from './environment.ts';
import type { Networks } from './helpers/networks.ts';
import type { StorageLimits } from './ports/vector-stores.ts';
import { tracingSettings } from './tracing/settings.ts';
import type { TracingSettings } from './tracing/tracing.ts';

export { ConfigError, type Environment } from './environment.ts';

export interface Config {
  /** All variables, for the keys of engines that `sluice.yaml` names. */
  readonly env: Environment;
  readonly host: string;
  readonly port: number;
  /** Set by `serve --processes`: its gateways listen on one port together. */
  readonly sharedPort: boolean;
  /** The operator's port: metrics and probes. Undefined: none. */
  readonly admin: AdminAddress | undefined;
  /** Whether the admin API is served, on that port or by the supervisor of `serve --processes`. */
  readonly adminApi: boolean;
  /** Undefined: one is made at the first start. */
  readonly adminToken: string | undefined;
  /** Whether the public port and the operator's port serve pages for browsers. */
  readonly console: boolean;
  /** Folder of everything the embedded defaults keep. */
  readonly dataDir: string;
  /** `sluice.yaml`; undefined: the default catalog on the simulator. */
  readonly configFile: string | undefined;
  /** Address clients use, ending in `/v1`; undefined: derived from where the server listens. */
  readonly publicUrl: string | undefined;
  readonly bootstrapKey: string | undefined;
  /** The operator's name: `provider` of chat responses. */
  readonly provider: string;
  readonly logLevel: LogLevel;
  /** Undefined: records are in a file of the data folder, and limits in each process. */
  readonly redis: RedisSettings | undefined;
  /** A Redis that keeps nothing on disk is logged as an error, refused at start, or taken as it is. */
  readonly redisPersistence: 'warn' | 'require' | 'ignore';
  readonly admission: AdmissionConfig['admission'];
  readonly allowPrivateUrls: boolean;
  /** Name servers for the hosts of clients' URLs; undefined: the system's. */
  readonly dnsServers: readonly string[] | undefined;
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Which HTTP server carries the routes. */
  readonly edge: 'auto' | 'uws' | 'node';
  /** Headers of rate limits, and those that say how a request was served. */
  readonly responseHeaders: 'all' | 'limits' | 'off';
  /** Proxies whose `x-forwarded-for` is believed. */
  readonly trustedProxies: Networks | undefined;
  /** Bytes of memory for large request bodies that are not admitted yet, in all and per subscription. */
  readonly bodyBytes: number;
  readonly bodyBytesPerSubscription: number;
  /** When the usage journal is forced to disk; the death of the process never loses an event. */
  readonly journalSync: 'none' | 'always' | { readonly intervalMs: number };
  /** Bytes of usage that may wait to be shipped; past it billable requests are refused. */
  readonly journalMaxBytes: number;
  /** What the vector stores of one subscription may hold. */
  readonly storage: StorageLimits;
  /** Bytes of the data folder's disk that files and items of clients never take. */
  readonly diskReserveBytes: number;
  /** Undefined: files are kept in the data folder. */
  readonly s3: S3Settings | undefined;
  /** Undefined: usage goes straight into the ledger. */
  readonly kafka: KafkaSettings | undefined;
  /** Undefined: the ledger is a file in the data folder. */
  readonly clickHouse: ClickHouseSettings | undefined;
  /** Undefined: vectors of items are in a file in the data folder. */
  readonly qdrant: QdrantSettings | undefined;
  /** Who reads usage from Kafka into the ledger: every gateway, or only processes of `sluice billing`. */
  readonly billing: 'inside' | 'apart';
  /** Days that the ledger keeps events, 0 for ever; undefined leaves it as it is. */
  readonly usageDays: number | undefined;
  /** Path of ffmpeg, or `packaged` for the one in WebAssembly; undefined: chosen. */
  readonly ffmpeg: string | undefined;
  /** Undefined: nothing is recorded; a client's trace context is passed on all the same. */
  readonly tracing: TracingSettings | undefined;
  /** Resumable streams: the longest grace period, and the bytes that their logs may take. */
  readonly streams: StreamsConfig['streams'];
  /** Milliseconds running requests get to finish after SIGTERM. */
  readonly drainMs: number;
  /** `serve --processes`: a process that is silent for so long is replaced; 0: never. */
  readonly watchdogSeconds: number;
  /** Videos and songs: how many this process renders at once (0: it leaves them to workers), how long outputs are kept, how long a render may take. */
  readonly jobs: { readonly renders: number; readonly keptMs: number; readonly longestMs: number };
}

export interface AdminAddress {
  readonly host: string;
  readonly port: number;
  /** Asked for; workers and billing, of which many may run beside a gateway, have one only then. */
  readonly chosen: boolean;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];
export const loadConfig = (env: Environment = environment()): Config => ({
  env,
  host: text(env, 'HOST') ?? '127.0.0.1',
  port: integer(env, 'PORT', 8787, 0, 65_535),
  sharedPort: flag(env, 'SLUICE_SHARED_PORT'),
  admin: admin(env),
  adminApi: admin(env) !== undefined || text(env, 'SLUICE_ADMIN_PORT') === supervised,
  adminToken: secret(env, 'SLUICE_ADMIN_TOKEN'),
  console: oneOf(env, 'SLUICE_CONSOLE', ['on', 'off'], 'on') === 'on',
  dataDir: resolve(text(env, 'SLUICE_DATA') ?? 'data'),
  configFile: configFile(env),
  publicUrl: publicUrl(env),
  bootstrapKey: secret(env, 'SLUICE_BOOTSTRAP_KEY'),
  provider: provider(env),
  logLevel: oneOf(env, 'LOG_LEVEL', logLevels, 'warn'),
  redis: redisSettings(env),
  redisPersistence: oneOf(env, 'SLUICE_REDIS_PERSISTENCE', ['warn', 'require', 'ignore'], 'warn'),
  admission: { fallback: oneOf(env, 'SLUICE_ADMISSION_FALLBACK', ['local', 'refuse'], 'local') },
  allowPrivateUrls: flag(env, 'SLUICE_ALLOW_PRIVATE_URLS'),
  dnsServers: dnsServers(env),
  tls: tls(env),
  edge: oneOf(env, 'SLUICE_EDGE', ['auto', 'uws', 'node'], 'auto'),
  responseHeaders: oneOf(env, 'SLUICE_RESPONSE_HEADERS', ['all', 'limits', 'off'], 'all'),
  trustedProxies: networks(env, 'SLUICE_TRUSTED_PROXIES'),
  ...bodyMemory(env),
  journalSync: journalSync(env),
  journalMaxBytes: integer(env, 'SLUICE_JOURNAL_MAX_MB', 1024, 1, 1_000_000) * 1024 * 1024,
  storage: {
    bytes: integer(env, 'SLUICE_STORAGE_BYTES', 10 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
    files: integer(env, 'SLUICE_STORAGE_FILES', 100_000, 0, 1_000_000_000),
    items: integer(env, 'SLUICE_STORAGE_ITEMS', 1_000_000, 0, 1_000_000_000),
  },
  diskReserveBytes: integer(env, 'SLUICE_DISK_RESERVE_MB', 256, 0, 10_000_000) * 1024 * 1024,
  s3: s3Settings(env),
  kafka: kafkaSettings(env),
  clickHouse: clickHouseSettings(env),
  qdrant: qdrantSettings(env),
  billing: oneOf(env, 'SLUICE_BILLING', ['inside', 'apart'], 'inside'),
  usageDays:
    text(env, 'SLUICE_USAGE_DAYS') === undefined
      ? undefined
      : integer(env, 'SLUICE_USAGE_DAYS', 0, 0, 36_500),
  ffmpeg: ffmpeg(env),
  tracing: tracingSettings(env),
  streams: streams(env),
  watchdogSeconds: integer(env, 'SLUICE_WATCHDOG_SECONDS', 30, 0, 3600),
  drainMs: integer(env, 'SLUICE_DRAIN_SECONDS', 30, 0, 3600) * 1000,
  jobs: {
    renders: renders(env),
    keptMs: integer(env, 'SLUICE_OUTPUT_HOURS', 24, 1, 8_760) * 3_600_000,
    longestMs: integer(env, 'SLUICE_RENDER_MINUTES', 60, 1, 1_440) * 60_000,
  },
});

/** The port of a process that serves no clients. */
export const chosenAdmin = ({ admin }: Pick<Config, 'admin'>): AdminAddress | undefined =>
  admin?.chosen === true ? admin : undefined;

/** Value of `SLUICE_ADMIN_PORT` in a process whose supervisor has the port. */
export const supervised = 'supervisor';

/** A thousand above the clients' port, so that gateways on one machine do not collide there either. */
const admin = (env: Environment): Config['admin'] => {
  const chosen = text(env, 'SLUICE_ADMIN_PORT');
  if (chosen === 'off' || chosen === supervised) return undefined;
  const host = text(env, 'SLUICE_ADMIN_HOST') ?? '127.0.0.1';
  if (chosen !== undefined)
    return { host, port: integer(env, 'SLUICE_ADMIN_PORT', 0, 0, 65_535), chosen: true };
  const port = integer(env, 'PORT', 8787, 0, 65_535);
  return port === 0 || port > 64_535 ? undefined : { host, port: port + 1000, chosen: false };
};

const dnsServers = (env: Environment): readonly string[] | undefined => {
  const servers = text(env, 'SLUICE_DNS_SERVERS')
    ?.split(',')
    .map((server) => server.trim());
  const isAddress = (server: string) => isIP(server.replace(/^\[(.*)\](:\d+)?$/, '$1')) !== 0;
  const wrong = servers?.find((server) => !isAddress(server) && !/^[\d.]+:\d+$/.test(server));
  if (wrong !== undefined)
    throw new ConfigError(
      `SLUICE_DNS_SERVERS must be addresses, each with or without a port, not "${wrong}"`,
    );
  return servers;
};

const configFile = (env: Environment): string | undefined => {
  const named = text(env, 'SLUICE_CONFIG');
  if (named !== undefined) {
    if (!existsSync(named)) throw new ConfigError(`SLUICE_CONFIG names ${named}, which does not exist`);
    return resolve(named);
  }
  return existsSync('sluice.yaml') ? resolve('sluice.yaml') : undefined;
};

const ffmpeg = (env: Environment): string | undefined => {
  const named = text(env, 'SLUICE_FFMPEG');
  if (named === undefined || named === 'packaged') return named;
  if (!existsSync(named))
    throw new ConfigError(`SLUICE_FFMPEG must be packaged or a path, and ${named} does not exist`);
  return resolve(named);
};

const publicUrl = (env: Environment): string | undefined => {
  const value = url(env, 'SLUICE_PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '');
  return value === undefined || value.endsWith('/v1') ? value : `${value}/v1`;
};

const megabyte = 1024 * 1024;

/** An eighth of the memory that the process may use; a quarter of that for one subscription. */
const bodyMemory = (env: Environment): Pick<Config, 'bodyBytes' | 'bodyBytesPerSubscription'> => {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const usual = Math.min(2048, Math.max(256, Math.floor(memory / 8 / megabyte)));
  const all = integer(env, 'SLUICE_BODY_MEMORY_MB', usual, 128, 1_000_000);
  const own = integer(env, 'SLUICE_BODY_MEMORY_PER_SUBSCRIPTION_MB', Math.floor(all / 4), 1, 1_000_000);
  return { bodyBytes: all * megabyte, bodyBytesPerSubscription: own * megabyte };
};

/** One log and those of a subscription fit into all of them. */
const streams = (env: Environment): Config['streams'] => {
  const one = integer(env, 'SLUICE_STREAM_LOG_MB', 8, 1, 1024);
  const all = integer(env, 'SLUICE_STREAM_LOGS_MB', 1024, 4 * one, 1_000_000);
  const memory = integer(env, 'SLUICE_STREAM_LOGS_MEMORY_MB', 64, 1, 1_000_000);
  return {
    mostGraceMs: integer(env, 'SLUICE_RESUMABLE_SECONDS', 300, 0, 86_400) * 1000,
    streamBytes: one * megabyte,
    allBytes: all * megabyte,
    memoryBytes: memory * megabyte,
    spillBytes: 256 * 1024,
  };
};

const secret = (env: Environment, name: string): string | undefined => {
  const value = text(env, name);
  if (value !== undefined && !/^[\x21-\x7e]{16,512}$/.test(value))
    throw new ConfigError(`${name} must be 16 to 512 visible ASCII characters without spaces`);
  return value;
};

const provider = (env: Environment): string => {
  const value = text(env, 'SLUICE_PROVIDER') ?? 'Sluice';
  if (!/^[^\p{C}]{1,100}$/u.test(value))
    throw new ConfigError('SLUICE_PROVIDER must be at most 100 characters without control characters');
  return value;
};

const journalSync = (env: Environment): Config['journalSync'] => {
  const policy = oneOf(env, 'SLUICE_JOURNAL_SYNC', ['none', 'interval', 'always'], 'interval');
  return policy === 'interval'
    ? { intervalMs: integer(env, 'SLUICE_JOURNAL_SYNC_MS', 100, 1, 60_000) }
    : policy;
};

const renders = (env: Environment): number => {
  const count = integer(env, 'SLUICE_WORKERS', 4, 0, 1_000);
  if (count === 0 && text(env, 'REDIS_URL') === undefined)
    throw new ConfigError('SLUICE_WORKERS=0 leaves renders to `sluice worker`, which needs REDIS_URL');
  return count;
};

const tls = (env: Environment): Config['tls'] => {
  const certFile = text(env, 'SLUICE_TLS_CERT');
  const keyFile = text(env, 'SLUICE_TLS_KEY');
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new ConfigError('SLUICE_TLS_CERT and SLUICE_TLS_KEY must be set together');
  for (const [name, file] of [
    ['SLUICE_TLS_CERT', certFile],
    ['SLUICE_TLS_KEY', keyFile],
  ] as const)
    if (!existsSync(file)) throw new ConfigError(`${name} names ${file}, which does not exist`);
  return { certFile: resolve(certFile), keyFile: resolve(keyFile) };
};
