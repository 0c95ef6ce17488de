/** Connects to Kafka with quiet logging, and names our topics and groups. */
import kafkajs, { type Kafka, type LogEntry, type SASLOptions } from 'kafkajs';
import type { Logger } from 'pino';
import type { Topic } from '../../ports/events.ts';

export interface KafkaSettings {
  readonly brokers: readonly string[];
  /** First part of every topic and group name: `sluice` makes `sluice.usage`. */
  readonly prefix: string;
  readonly tls: boolean;
  readonly sasl: KafkaUser | undefined;
}

export type KafkaUser = Extract<SASLOptions, { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }>;

export const topicName = ({ prefix }: KafkaSettings, topic: Topic): string => `${prefix}.${topic}`;
/** Messages that could not be used, as they came; headers say why and where they stood. */
export const deadTopicName = (settings: KafkaSettings, topic: Topic): string =>
  `${topicName(settings, topic)}.dead`;
export const groupName = ({ prefix }: KafkaSettings, group: string): string => `${prefix}.${group}`;

export const connectKafka = (settings: KafkaSettings, log: Logger): Kafka =>
  new kafkajs.Kafka({
    clientId: 'sluice',
    brokers: [...settings.brokers],
    ssl: settings.tls,
    ...(settings.sasl === undefined ? {} : { sasl: settings.sasl }),
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 10_000,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => quietly(log),
  });

/** The library reports every failed attempt as an error; what matters comes back as a rejection and is logged where it is handled. */
const quietly =
  (log: Logger) =>
  ({ level, log: { message, error } }: LogEntry): void =>
    log.debug({ kafka: message, error, level: kafkajs.logLevel[level] }, 'kafka');

/** One sentence for the operator. */
export const kafkaFailure = ({ brokers }: KafkaSettings, error: unknown): Error =>
  new Error(`Kafka at ${brokers.join(', ')} cannot be used: ${reasonOf(error)}.`, { cause: error });

/** Behind "retries exceeded" stands what really happened. */
const reasonOf = (error: unknown): string => {
  if (
    error instanceof Error &&
    error.name === 'KafkaJSNumberOfRetriesExceeded' &&
    error.cause instanceof Error
  )
    return reasonOf(error.cause);
  return (error instanceof Error ? error.message : String(error)).replace(/[.\s]+$/, '');
};
