/** Passes batches of a Kafka topic to a receiver; commits offsets once it has accepted them. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import type { ReadingStats, ReceivedMessage, Receiver, Rejected, Topic } from '../../ports/events.ts';
import { connectKafka, groupName, type KafkaSettings, metadataAge, topicName } from './kafka-client.ts';
import { type DeadLetterOffice, deadLetterOffice } from './kafka-dead-letters.ts';
import { ensureTopics } from './kafka-topics.ts';

interface KafkaSubscriptionOptions {
  readonly settings: KafkaSettings;
  readonly topic: Topic;
  /** Readers of one group share the topic; each group reads all of it. */
  readonly group: string;
  readonly receive: Receiver;
  readonly log: Logger;
  /** A batch is handed on when it has this many bytes, or when this long has passed. */
  readonly batch?: { readonly bytes: number; readonly ms: number };
  /** Where a group that is new begins: at the oldest event there is, or at what comes from now on. */
  readonly from?: 'beginning' | 'now';
}

export interface Subscription {
  stats(): Omit<ReadingStats, 'lag'>;
  /** Waits for the batch at hand, which may be given again later. */
  stop(): Promise<void>;
}

const backoff = exponentialBackoff({ first: 200, most: 2_000 });
const beat = 1_000;

/** Reads in the background from now on, through every outage, until stopped. */
export const subscribeKafka = (options: KafkaSubscriptionOptions): Subscription => {
  const { settings, topic, log } = options;
  const kafka = connectKafka(settings, log);
  const stopping = new AbortController();
  const stats = { reading: false, batches: 0, messages: 0, deadLetters: 0, retries: 0 };

  const readUntilTrouble = async (): Promise<void> => {
    const consumer = newConsumer(kafka, options);
    const deadLetters = deadLetterOffice(kafka, settings, { topic, log });
    const over = new AbortController();
    const crashed = new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload: { error, restart } }) => {
        if (!restart) reject(error);
      });
      stopping.signal.addEventListener('abort', () => resolve(), { signal: over.signal });
    });
    try {
      await ensureTopics(kafka, settings);
      await consumer.connect();
      await consumer.subscribe({ topic: topicName(settings, topic), fromBeginning: options.from !== 'now' });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // One is read while another is taken.
        partitionsConsumedConcurrently: 4,
        eachBatch: (payload) => takeBatch(consumer, payload, deadLetters),
      });
      stats.reading = true;
      await crashed;
    } finally {
      stats.reading = false;
      over.abort();
      crashed.catch(() => undefined); // also when it comes too late for anybody to wait for it
      await consumer
        .disconnect()
        .catch((error: unknown) => log.debug({ err: error }, 'kafka: disconnecting'));
      await deadLetters.close();
    }
  };

  const takeBatch = async (
    consumer: Consumer,
    { batch, resolveOffset, heartbeat, isRunning, isStale }: EachBatchPayload,
    deadLetters: DeadLetterOffice,
  ): Promise<void> => {
    if (!isRunning() || isStale()) return;
    const { messages } = batch;
    const rejected = await beating(heartbeat, () => untilTaken(messages));
    if (rejected === undefined) return; // stopping: it stays uncommitted
    if (rejected.length > 0) {
      await deadLetters.take(batch, rejected);
      stats.deadLetters += rejected.length;
      log.error({ topic: batch.topic, messages: rejected.length }, 'messages dead-lettered');
    }
    stats.batches++;
    stats.messages += messages.length;
    const next = String(BigInt(batch.lastOffset()) + 1n);
    resolveOffset(batch.lastOffset());
    await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: next }]);
  };

  /** The receiver's service may be unavailable for long; the batch waits, and nothing more is read meanwhile. */
  const untilTaken = async (
    messages: readonly ReceivedMessage[],
  ): Promise<readonly Rejected[] | undefined> => {
    for (let retry = 1; ; retry++) {
      try {
        return await options.receive(messages, stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) return undefined;
        stats.retries++;
        const pause = backoff(retry);
        log.warn({ err: error, retryMs: pause }, `${topic}: receiver failed; messages stay in Kafka`);
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return undefined;
      }
    }
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const started = Date.now();
      try {
        await readUntilTrouble();
      } catch (error) {
        if (Date.now() - started > 10_000) failures = 0;
        const pause = backoff(++failures);
        log.warn({ err: error, retryMs: pause }, `${topic}: Kafka read failed`);
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
  };

  const running = run();
  return {
    stats: () => stats,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const newConsumer = (
  kafka: Kafka,
  { settings, group, batch = { bytes: 1024 * 1024, ms: 500 } }: KafkaSubscriptionOptions,
): Consumer =>
  kafka.consumer({
    groupId: groupName(settings, group),
    metadataMaxAge: metadataAge(settings),
    // A reader that died gives its partitions to others after this long.
    sessionTimeout: 10_000,
    heartbeatInterval: beat,
    minBytes: batch.bytes,
    maxWaitTimeInMs: batch.ms,
    maxBytesPerPartition: 4 * 1024 * 1024,
    maxBytes: 16 * 1024 * 1024,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3, restartOnFailure: async () => false },
  });

/** Work that may take longer than the group waits for a sign of life. A lost place in the group is an error at its end. */
const beating = async <T>(heartbeat: () => Promise<void>, work: () => Promise<T>): Promise<T> => {
  let lost: unknown;
  const timer = setInterval(() => {
    heartbeat().catch((error: unknown) => {
      lost = error;
    });
  }, beat);
  try {
    const result = await work();
    if (lost !== undefined) throw lost;
    return result;
  } finally {
    clearInterval(timer);
  }
};
