/** Creates our Kafka topics when they are missing. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { deadTopicName, type KafkaSettings, topicName } from './kafka-client.ts';

/** How long, and how often, leaders of new partitions are asked whether they know of it. */
const patience = 5_000;
const pause = 100;

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
    // Another process may make them at the same time: that counts as made.
    if (missing.length > 0)
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
    const deadline = Date.now() + patience;
    for (const { topic } of wanted) await untilLed(admin, topic, deadline);
  } finally {
    await admin.disconnect();
  }
};

/**
 * A broker that is named as a leader may learn of it a moment later, and refuses what is published until then. One that
 * has not by the deadline is left to publishing, which says what is wrong: other partitions may do.
 */
const untilLed = async (admin: Admin, topic: string, deadline: number): Promise<void> => {
  for (;;) {
    try {
      await admin.fetchTopicOffsets(topic);
      return;
    } catch {
      if (Date.now() > deadline) return;
      await delay(pause);
    }
  }
};
