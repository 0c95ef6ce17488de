/** An idempotent Kafka producer whose publications are acknowledged for every partition they touch. */
import type { Kafka, Message, Partitioners, RecordMetadata } from 'kafkajs';
import type { Logger } from 'pino';
import { type KafkaSettings, metadataAge, patience } from './kafka-client.ts';
import { kafkajs } from './kafka-corrections.ts';

export interface KafkaProducer {
  connect(): Promise<void>;
  /** One at a time. Resolves once all in-sync replicas have all messages. */
  send(topic: string, messages: Message[]): Promise<void>;
  disconnect(): Promise<void>;
}

const mostAttempts = 4;
/** Keys whose partition is cached. */
const mostCached = 10_000;

export const newProducer = (kafka: Kafka, settings: KafkaSettings, log: Logger): KafkaProducer => {
  /** Partitions that the messages of this publication go to. */
  const touched = new Set<number>();
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataAge(settings),
    createPartitioner: () => {
      const partitionOf = cachingPartitioner();
      return (sent) => {
        const partition = partitionOf(sent);
        touched.add(partition);
        return partition;
      };
    },
    retry: patience,
  });
  return {
    connect: () => producer.connect(),
    /**
     * When the library tries again, it leaves out brokers that have acknowledged their part. A partition whose leader
     * moved to one of them meanwhile is never sent, and the library calls it done: so we look, and send all of it again.
     */
    send: async (topic, messages) => {
      for (let attempt = 1; attempt <= mostAttempts; attempt++) {
        touched.clear();
        const acknowledged = await producer.send({ topic, acks: -1, messages });
        if (covers(acknowledged, touched)) return;
        log.info({ topic, attempt }, 'kafka publication incomplete');
      }
      throw new Error(`${topic} has partitions that acknowledge nothing`);
    },
    disconnect: () => producer.disconnect(),
  };
};

/** Caches the partition of each key: the library computes a hash for each message, which takes 5 µs. */
export const cachingPartitioner: typeof Partitioners.DefaultPartitioner = () => {
  const partitionOf = kafkajs.Partitioners.DefaultPartitioner();
  const cache = new Map<string, number>();
  let count = 0;
  return (sent) => {
    const { key, partition: chosen } = sent.message;
    if (typeof key !== 'string' || chosen !== undefined) return partitionOf(sent);
    if (sent.partitionMetadata.length !== count || cache.size === mostCached) cache.clear();
    count = sent.partitionMetadata.length;
    const partition = cache.get(key) ?? partitionOf(sent);
    cache.set(key, partition);
    return partition;
  };
};

const covers = (acknowledged: readonly RecordMetadata[], touched: ReadonlySet<number>): boolean => {
  const partitions = new Set(acknowledged.map(({ partition }) => partition));
  for (const partition of touched) if (!partitions.has(partition)) return false;
  return true;
};
