/** Reads the settings of Kafka from the environment. */
import { ConfigError, type Environment, flag, oneOf, text } from '../../environment.ts';
import type { KafkaSettings, KafkaUser } from './kafka-client.ts';

/** Undefined: no broker is named. */
export const kafkaSettings = (env: Environment): KafkaSettings | undefined => {
  const brokers = text(env, 'KAFKA_BROKERS')
    ?.split(',')
    .map((broker) => broker.trim());
  if (brokers === undefined) return undefined;
  const wrong = brokers.find((broker) => !/^[^\s:/]+:\d{1,5}$|^\[[\da-f:]+\]:\d{1,5}$/i.test(broker));
  if (wrong !== undefined)
    throw new ConfigError(
      `KAFKA_BROKERS must be addresses such as host:9092 with commas between, not "${wrong}"`,
    );
  const prefix = text(env, 'KAFKA_PREFIX') ?? 'sluice';
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new ConfigError('KAFKA_PREFIX must be letters, digits, dots, dashes and underscores');
  return { brokers, prefix, tls: flag(env, 'KAFKA_TLS'), sasl: kafkaUser(env) };
};

const kafkaUser = (env: Environment): KafkaUser | undefined => {
  const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
  const mechanism = oneOf(env, 'KAFKA_SASL', mechanisms, 'plain');
  const [username, password] = [text(env, 'KAFKA_USERNAME'), text(env, 'KAFKA_PASSWORD')];
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined || password === undefined)
    throw new ConfigError('KAFKA_USERNAME and KAFKA_PASSWORD must be set together');
  return { mechanism, username, password };
};
