/** Reads where Redis is and how it is reached: one server, a cluster, or sentinels that know the primary. */
import { existsSync, readFileSync } from 'node:fs';
import { ConfigError, type Environment, integer, text } from '../environment.ts';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

export interface RedisUser {
  readonly username?: string;
  readonly password?: string;
}

/** PEM texts; an empty object trusts the authorities of the system. */
export interface RedisTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export type RedisPlace =
  | { readonly topology: 'server'; readonly host: RedisHost; readonly db: number }
  | { readonly topology: 'socket'; readonly path: string; readonly db: number }
  | { readonly topology: 'cluster'; readonly seeds: readonly RedisHost[] }
  | {
      readonly topology: 'sentinel';
      readonly sentinels: readonly RedisHost[];
      /** Of the primary, as sentinels call it. */
      readonly name: string;
      readonly db: number;
      readonly sentinelUser: RedisUser;
    };

export interface RedisSettings {
  readonly place: RedisPlace;
  readonly user: RedisUser;
  /** Undefined: connections are not encrypted. */
  readonly tls: RedisTls | undefined;
  /** Replicas that must have a change of a record before it is acknowledged. */
  readonly waitReplicas: number;
}

/** A URL stands for settings that are all in it. */
export type RedisAddress = string | RedisSettings;

/** Undefined: no Redis is named. */
export const redisSettings = (env: Environment): RedisSettings | undefined => {
  const url = text(env, 'REDIS_URL');
  if (url === undefined) return undefined;
  const settings = parseRedisUrl(url, {
    ...value('username', text(env, 'REDIS_SENTINEL_USERNAME')),
    ...value('password', text(env, 'REDIS_SENTINEL_PASSWORD')),
  });
  const tls = certificates(env);
  if (settings.tls === undefined && Object.keys(tls).length > 0)
    throw new ConfigError('REDIS_CA_FILE, REDIS_CERT_FILE and REDIS_KEY_FILE need a REDIS_URL with rediss');
  return {
    ...settings,
    tls: settings.tls && tls,
    waitReplicas: integer(env, 'REDIS_WAIT_REPLICAS', 0, 0, 5),
  };
};

export const settingsOf = (address: RedisAddress): RedisSettings =>
  typeof address === 'string' ? parseRedisUrl(address) : address;

/** For people: without secrets. */
export const placeName = (address: RedisAddress): string => {
  const { place } = settingsOf(address);
  const named = (hosts: readonly RedisHost[]): string => hosts.map(hostName).join(',');
  switch (place.topology) {
    case 'server':
      return hostName(place.host);
    case 'socket':
      return place.path;
    case 'cluster':
      return named(place.seeds);
    case 'sentinel':
      return `${place.name} of ${named(place.sentinels)}`;
  }
};

const hostName = ({ host, port }: RedisHost): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const schemes = 'redis://, rediss://, redis+cluster://, redis+sentinel:// (both also with rediss) or unix://';
const parts = /^(rediss?(?:\+cluster|\+sentinel)?|unix):\/\/(?:([^@/]*)@)?([^/?]*)(\/[^?]*)?(?:\?(.*))?$/i;

const parseRedisUrl = (url: string, sentinelUser: RedisUser = {}): RedisSettings => {
  const match = parts.exec(url);
  if (match === null) throw new ConfigError(`REDIS_URL must be an address starting with ${schemes}`);
  const [, scheme = '', credentials, authority = '', path = '', query] = match;
  const [transport = '', kind] = scheme.toLowerCase().split('+');
  const common = {
    user: userOf(credentials),
    tls: transport === 'rediss' ? {} : undefined,
    waitReplicas: 0,
  };
  if (transport === 'unix') return { ...common, place: socketOf(authority, path, query) };
  if (query !== undefined) throw new ConfigError('REDIS_URL takes no parameters after a question mark');
  const hosts = authority.split(',').map((each) => hostOf(each, kind === 'sentinel' ? 26_379 : 6_379));
  const segments = path.split('/').slice(1);
  if (kind === 'sentinel') {
    const [name = '', db] = segments;
    if (name === '' || segments.length > 2)
      throw new ConfigError(
        'REDIS_URL with sentinels must end with the name of the primary, as in …:26379/mymaster',
      );
    return {
      ...common,
      place: {
        topology: 'sentinel',
        sentinels: hosts,
        name: decoded(name),
        db: databaseOf(db),
        sentinelUser,
      },
    };
  }
  if (segments.length > 1) throw new ConfigError('REDIS_URL has too many slashes after the host');
  const db = databaseOf(segments[0]);
  const [host] = hosts;
  if (kind === undefined && hosts.length === 1 && host !== undefined)
    return { ...common, place: { topology: 'server', host, db } };
  if (db !== 0) throw new ConfigError('REDIS_URL names a database, and a cluster has only database 0');
  return { ...common, place: { topology: 'cluster', seeds: hosts } };
};

const socketOf = (authority: string, path: string, query: string | undefined): RedisPlace => {
  if (authority !== '' || path.length < 2)
    throw new ConfigError(
      'REDIS_URL with unix:// must go on with the path of a socket, as in unix:///run/redis.sock',
    );
  const parameters = new URLSearchParams(query);
  const db = databaseOf(parameters.get('db') ?? undefined);
  parameters.delete('db');
  if (parameters.size > 0) throw new ConfigError('REDIS_URL with unix:// takes no parameter but db');
  return { topology: 'socket', path: decoded(path), db };
};

const hostOf = (written: string, usualPort: number): RedisHost => {
  const match = /^(?:\[([\da-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i.exec(written.trim());
  const port = match?.[3] === undefined ? usualPort : Number(match[3]);
  if (match === null || port < 1 || port > 65_535)
    throw new ConfigError(
      `REDIS_URL must name hosts such as redis-1:6379 with commas between, not "${written}"`,
    );
  return { host: match[1] ?? match[2] ?? '', port };
};

const databaseOf = (written: string | undefined): number => {
  if (written === undefined || written === '') return 0;
  if (!/^\d{1,5}$/.test(written))
    throw new ConfigError(`REDIS_URL must name a database by its number, not "${written}"`);
  return Number(written);
};

const userOf = (credentials: string | undefined): RedisUser => {
  if (credentials === undefined || credentials === '') return {};
  const colon = credentials.indexOf(':');
  const username = colon === -1 ? credentials : credentials.slice(0, colon);
  return {
    ...(username === '' ? {} : { username: decoded(username) }),
    ...(colon === -1 ? {} : { password: decoded(credentials.slice(colon + 1)) }),
  };
};

const decoded = (written: string): string => {
  try {
    return decodeURIComponent(written);
  } catch {
    throw new ConfigError('REDIS_URL has a % that is not followed by two hexadecimal digits');
  }
};

const certificates = (env: Environment): RedisTls => {
  const [cert, key] = [file(env, 'REDIS_CERT_FILE'), file(env, 'REDIS_KEY_FILE')];
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError('REDIS_CERT_FILE and REDIS_KEY_FILE must be set together');
  return { ...value('ca', file(env, 'REDIS_CA_FILE')), ...value('cert', cert), ...value('key', key) };
};

const file = (env: Environment, name: string): string | undefined => {
  const path = text(env, name);
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw new ConfigError(`${name} names ${path}, which does not exist`);
  return readFileSync(path, 'utf8');
};

const value = <Name extends string>(
  name: Name,
  given: string | undefined,
): { readonly [N in Name]?: string } =>
  (given === undefined ? {} : { [name]: given }) as { readonly [N in Name]?: string };
