/** Reads the settings of the ClickHouse ledger from the environment. */
import { ConfigError, type Environment, text } from '../../environment.ts';

export interface ClickHouseSettings {
  /** One server, or several of one cluster; the database is the same in all. */
  readonly urls: readonly string[];
  /** Undefined: the tables of one server. */
  readonly cluster: ClusterSettings | undefined;
}

export interface ClusterSettings {
  /** As the servers know it: an entry of `remote_servers`. */
  readonly name: string;
  /** Replicas of a shard that have a row before its insert is acknowledged; `auto`: the majority of them. */
  readonly insertQuorum: number | 'auto';
}

const mostServers = 16;

/** Undefined: the ledger is embedded. */
export const clickHouseSettings = (env: Environment): ClickHouseSettings | undefined => {
  const urls = addresses(env);
  const cluster = clusterSettings(env);
  if (urls === undefined) {
    if (cluster !== undefined) throw new ConfigError('CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL');
    return undefined;
  }
  // Each would have tables of its own, and totals would depend on the one that is asked.
  if (urls.length > 1 && cluster === undefined)
    throw new ConfigError(
      'CLICKHOUSE_URL names several servers, which must be those of a cluster: set CLICKHOUSE_CLUSTER',
    );
  return { urls, cluster };
};

const addresses = (env: Environment): readonly string[] | undefined => {
  const given = text(env, 'CLICKHOUSE_URL')
    ?.split(',')
    .map((each) => each.trim());
  if (given === undefined) return undefined;
  if (given.length > mostServers)
    throw new ConfigError(`CLICKHOUSE_URL must name at most ${mostServers} servers, not ${given.length}`);
  if (!given.every(isAddress))
    throw new ConfigError(
      `CLICKHOUSE_URL must be an address starting with http:// or https://, or several separated by commas`,
    );
  if (new Set(given.map(databaseOf)).size > 1)
    throw new ConfigError('CLICKHOUSE_URL must name the same database for all servers');
  return given;
};

const isAddress = (value: string): boolean =>
  URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);

export const databaseOf = (url: string): string =>
  decodeURIComponent(new URL(url).pathname.slice(1)) || 'default';

/** For people: no password is in them. */
export const hostsOf = (urls: readonly string[]): string => urls.map((url) => new URL(url).host).join(', ');

const clusterSettings = (env: Environment): ClusterSettings | undefined => {
  const name = text(env, 'CLICKHOUSE_CLUSTER');
  const quorum = text(env, 'CLICKHOUSE_INSERT_QUORUM');
  if (name === undefined) {
    if (quorum !== undefined) throw new ConfigError('CLICKHOUSE_INSERT_QUORUM needs CLICKHOUSE_CLUSTER');
    return undefined;
  }
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new ConfigError(
      `CLICKHOUSE_CLUSTER must be a name of up to 64 letters, digits, dots, dashes and underscores, not "${name}"`,
    );
  return { name, insertQuorum: insertQuorum(quorum) };
};

const insertQuorum = (value = 'auto'): number | 'auto' => {
  if (value === 'auto') return value;
  if (!/^(?:[1-9]|1[0-6])$/.test(value))
    throw new ConfigError(
      `CLICKHOUSE_INSERT_QUORUM must be auto or a whole number from 1 to 16, not "${value}"`,
    );
  return Number(value);
};
