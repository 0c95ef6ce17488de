/** Connects to Kafka with quiet logging, and names our topics and groups. */
import type { Kafka, LogEntry, Mechanism, SASLOptions } from 'kafkajs';
import type { Logger } from 'pino';
import type { Topic } from '../../ports/events.ts';
import { kafkajs } from './kafka-corrections.ts';
import { oauthBearer } from './kafka-oauth.ts';
import { type KafkaTls, socketsFor } from './kafka-sockets.ts';
import type { TokenSource } from './kafka-tokens.ts';

export interface KafkaSettings {
  readonly brokers: readonly string[];
  /** First part of every topic and group name: `sluice` makes `sluice.usage`. */
  readonly prefix: string;
  /** Undefined: without encryption. */
  readonly tls?: KafkaTls | undefined;
  readonly sasl?: KafkaUser | undefined;
  /** Of topics that we create; undefined: three, or one per broker where there are fewer. */
  readonly replicas?: number | undefined;
  /** How long partitions and their leaders are believed; new partitions are found after this at the latest. */
  readonly metadataMs?: number | undefined;
}

export type KafkaUser =
  | Extract<SASLOptions, { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512' }>
  | { readonly mechanism: 'oauthbearer'; readonly tokens: TokenSource };

export const topicName = ({ prefix }: KafkaSettings, topic: Topic): string => `${prefix}.${topic}`;
/** Messages that could not be used, as they came; headers say why and where they stood. */
export const deadTopicName = (settings: KafkaSettings, topic: Topic): string =>
  `${topicName(settings, topic)}.dead`;
export const groupName = ({ prefix }: KafkaSettings, group: string): string => `${prefix}.${group}`;

export const metadataAge = ({ metadataMs = 60_000 }: KafkaSettings): number => metadataMs;

/** Of the library, for whatever may pass. */
export const patience = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 };

export const connectKafka = (settings: KafkaSettings, log: Logger): Kafka =>
  new kafkajs.Kafka({
    clientId: 'sluice',
    brokers: inTurn(settings.brokers),
    socketFactory: socketsFor(settings.tls),
    ...(settings.sasl === undefined ? {} : { sasl: saslOf(settings.sasl) }),
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: 10_000,
    retry: patience,
    logLevel: kafkajs.logLevel.WARN,
    logCreator: () => quietly(log),
  });

/** Another broker each time, also for the next client: one that accepts connections and says nothing is left behind. */
const inTurn = (brokers: readonly string[]): (() => string[]) => {
  let next = Math.floor(Math.random() * brokers.length);
  return () => {
    next = (next + 1) % brokers.length;
    return brokers.slice(next, next + 1);
  };
};

const saslOf = (user: KafkaUser): SASLOptions | Mechanism =>
  user.mechanism === 'oauthbearer' ? oauthBearer(user.tokens) : { ...user };

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
