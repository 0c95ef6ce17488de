/** Reads the settings of Kafka from the environment. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, type Environment, flag, integer, oneOf, text, url } from '../../environment.ts';
import type { KafkaSettings, KafkaUser } from './kafka-client.ts';
import type { KafkaTls } from './kafka-sockets.ts';
import type { TokenSource } from './kafka-tokens.ts';

/** Undefined: no broker is named. */
export const kafkaSettings = (env: Environment): KafkaSettings | undefined => {
  const brokers = text(env, 'KAFKA_BROKERS')
    ?.split(',')
    .map((broker) => broker.trim());
  if (brokers === undefined) return undefined;
  // The client cannot take IPv6 addresses; names of hosts that have only those are fine.
  const wrong = brokers.find((broker) => !/^[^\s:/]+:\d{1,5}$/.test(broker));
  if (wrong !== undefined)
    throw new ConfigError(
      `KAFKA_BROKERS must be addresses such as host:9092 with commas between, not "${wrong}"`,
    );
  const prefix = text(env, 'KAFKA_PREFIX') ?? 'sluice';
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new ConfigError('KAFKA_PREFIX must be letters, digits, dots, dashes and underscores');
  const tls = kafkaTls(env);
  const replicas =
    text(env, 'KAFKA_REPLICAS') === undefined ? undefined : integer(env, 'KAFKA_REPLICAS', 3, 1, 100);
  return { brokers, prefix, tls, sasl: kafkaUser(env, tls !== undefined), replicas };
};

const kafkaTls = (env: Environment): KafkaTls | undefined => {
  const [caFile, certFile, keyFile] = ['KAFKA_TLS_CA', 'KAFKA_TLS_CERT', 'KAFKA_TLS_KEY'].map((name) =>
    existing(env, name),
  );
  if (!flag(env, 'KAFKA_TLS')) {
    const file = ['KAFKA_TLS_CA', 'KAFKA_TLS_CERT', 'KAFKA_TLS_KEY'].find((name) => text(env, name));
    if (file !== undefined) throw new ConfigError(`${file} needs KAFKA_TLS=1`);
    return undefined;
  }
  if (certFile === undefined && keyFile === undefined) return { caFile };
  if (certFile === undefined || keyFile === undefined)
    throw new ConfigError('KAFKA_TLS_CERT and KAFKA_TLS_KEY must be set together');
  return { caFile, client: { certFile, keyFile } };
};

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] as const;

const kafkaUser = (env: Environment, encrypted: boolean): KafkaUser | undefined => {
  const mechanism = oneOf(env, 'KAFKA_SASL', mechanisms, 'plain');
  if (mechanism === 'oauthbearer') {
    if (!encrypted)
      throw new ConfigError('KAFKA_SASL=oauthbearer needs KAFKA_TLS=1: whoever reads a token can use it');
    return { mechanism, tokens: tokenSource(env) };
  }
  const [username, password] = [text(env, 'KAFKA_USERNAME'), text(env, 'KAFKA_PASSWORD')];
  if (username === undefined && password === undefined && text(env, 'KAFKA_SASL') === undefined)
    return undefined;
  if (username === undefined || password === undefined)
    throw new ConfigError(
      text(env, 'KAFKA_SASL') === undefined
        ? 'KAFKA_USERNAME and KAFKA_PASSWORD must be set together'
        : `KAFKA_SASL=${mechanism} needs KAFKA_USERNAME and KAFKA_PASSWORD`,
    );
  return { mechanism, username, password };
};

const tokenSource = (env: Environment): TokenSource => {
  const file = existing(env, 'KAFKA_OAUTH_TOKEN_FILE');
  const address = url(env, 'KAFKA_OAUTH_TOKEN_URL', ['https:', 'http:']);
  if ((file === undefined) === (address === undefined))
    throw new ConfigError(
      'KAFKA_SASL=oauthbearer needs either KAFKA_OAUTH_TOKEN_FILE or KAFKA_OAUTH_TOKEN_URL',
    );
  if (file !== undefined) return { file };
  const { protocol, hostname, username } = new URL(address ?? '');
  if (username !== '')
    throw new ConfigError('KAFKA_OAUTH_TOKEN_URL must be without a user: set KAFKA_OAUTH_CLIENT_ID');
  if (protocol === 'http:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
    throw new ConfigError('KAFKA_OAUTH_TOKEN_URL must start with https://, except on this machine');
  const [clientId, clientSecret] = [
    text(env, 'KAFKA_OAUTH_CLIENT_ID'),
    text(env, 'KAFKA_OAUTH_CLIENT_SECRET'),
  ];
  if (clientId === undefined || clientSecret === undefined)
    throw new ConfigError('KAFKA_OAUTH_TOKEN_URL needs KAFKA_OAUTH_CLIENT_ID and KAFKA_OAUTH_CLIENT_SECRET');
  return { url: address ?? '', clientId, clientSecret, scope: text(env, 'KAFKA_OAUTH_SCOPE') };
};

const existing = (env: Environment, name: string): string | undefined => {
  const file = text(env, name);
  if (file === undefined) return undefined;
  if (!existsSync(file)) throw new ConfigError(`${name} names ${file}, which does not exist`);
  return resolve(file);
};
