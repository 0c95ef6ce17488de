/** Reads all messages of a Kafka topic and a group's offsets, for comparison; consumes nothing. */
import { randomBytes } from 'node:crypto';
import type { Admin, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import type { Topic } from '../../ports/events.ts';
import {
  connectKafka,
  deadTopicName,
  groupName,
  type KafkaSettings,
  kafkaFailure,
  topicName,
} from './kafka-client.ts';

interface AuditedMessage {
  readonly value: Uint8Array;
  /** Whether the group has taken it and said so. */
  readonly consumed: boolean;
}

interface Audit {
  readonly messages: number;
  /** Of them, those that the group has not taken yet. */
  readonly waiting: number;
  readonly deadLetters: number;
}

interface Extent {
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
  readonly committed: bigint;
}

/** Calls `look` with batches, one after the other, until it has seen all that was there when it began. */
export const auditKafka = async (
  settings: KafkaSettings,
  { topic, group, log }: { topic: Topic; group: string; log: Logger },
  look: (messages: readonly AuditedMessage[]) => Promise<void>,
): Promise<Audit> => {
  const kafka = connectKafka(settings, log);
  const admin = kafka.admin();
  try {
    await admin.connect();
    const extents = await extentsOf(admin, topicName(settings, topic), groupName(settings, group));
    const dead = await extentsOf(admin, deadTopicName(settings, topic), groupName(settings, group));
    await readAll(kafka, admin, { topic: topicName(settings, topic), extents, settings }, look);
    const sum = (all: readonly Extent[], size: (extent: Extent) => bigint) =>
      Number(all.reduce((total, extent) => total + size(extent), 0n));
    return {
      messages: sum(extents, ({ high, low }) => high - low),
      waiting: sum(extents, ({ high, committed, low }) => high - max(committed, low)),
      deadLetters: sum(dead, ({ high, low }) => high - low),
    };
  } catch (error) {
    throw kafkaFailure(settings, error);
  } finally {
    await admin.disconnect();
  }
};

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

const extentsOf = async (admin: Admin, topic: string, groupId: string): Promise<readonly Extent[]> => {
  if (!(await admin.listTopics()).includes(topic)) return [];
  // Commits first: whatever they cover must be in the ledger when it is asked later.
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets.map(({ partition, low, high }) => ({
    partition,
    low: BigInt(low),
    high: BigInt(high),
    committed: BigInt(committed?.partitions.find((each) => each.partition === partition)?.offset ?? -1),
  }));
};

const readAll = async (
  kafka: Kafka,
  admin: Admin,
  { topic, extents, settings }: { topic: string; extents: readonly Extent[]; settings: KafkaSettings },
  look: (messages: readonly AuditedMessage[]) => Promise<void>,
): Promise<void> => {
  const left = new Map(
    extents.filter(({ high, low }) => high > low).map((extent) => [extent.partition, extent]),
  );
  if (left.size === 0) return;
  const groupId = groupName(settings, `audit-${randomBytes(6).toString('hex')}`);
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 200 });
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      consumer
        .run({
          autoCommit: false,
          eachBatch: async ({ batch }) => {
            const extent = left.get(batch.partition);
            if (extent === undefined) return;
            const within = batch.messages.filter(({ offset }) => BigInt(offset) < extent.high);
            await look(
              within.map(({ value, offset }) => ({
                value: value ?? Buffer.alloc(0),
                consumed: BigInt(offset) < extent.committed,
              })),
            );
            if (BigInt(batch.lastOffset()) + 1n >= extent.high) left.delete(batch.partition);
            if (left.size === 0) resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    await consumer.disconnect();
    await admin.deleteGroups([groupId]);
  }
};
