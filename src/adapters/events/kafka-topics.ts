/** A Kafka client in; our topics on it out, made when they are missing. */
import type { Kafka } from 'kafkajs';
import { deadTopicName, type KafkaSettings, topicName } from './kafka-client.ts';

const days = (count: number): string => String(count * 86_400_000);

/** Replicas are as many as the brokers make by default; a topic that is there stays as its operator made it. */
export const ensureTopics = async (kafka: Kafka, settings: KafkaSettings): Promise<void> => {
  const wanted = [
    // A month to replay from, or to find out that nobody reads.
    { topic: topicName(settings, 'usage'), partitions: 12, retention: days(30) },
    { topic: deadTopicName(settings, 'usage'), partitions: 1, retention: '-1' },
    { topic: topicName(settings, 'jobs'), partitions: 12, retention: days(7) },
  ];
  const admin = kafka.admin();
  await admin.connect();
  try {
    const there = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !there.has(topic));
    if (missing.length === 0) return;
    // Another process may make them at the same time: that counts as made.
    await admin.createTopics({
      waitForLeaders: true,
      topics: missing.map(({ topic, partitions, retention }) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: -1,
        configEntries: [
          { name: 'cleanup.policy', value: 'delete' },
          { name: 'retention.ms', value: retention },
        ],
      })),
    });
  } finally {
    await admin.disconnect();
  }
};
