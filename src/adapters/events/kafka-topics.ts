/** Creates our Kafka topics when they are missing. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { deadTopicName, type KafkaSettings, topicName } from './kafka-client.ts';

/** How long, and how often, leaders of new partitions are asked whether they know of it. */
const patience = 5_000;
const pause = 100;
/** Two may be lost, and one without an interruption. */
const usualReplicas = 3;

const days = (count: number): string => String(count * 86_400_000);

/**
 * A topic that is there stays as its operator made it. Returns the names of those with fewer replicas than they would
 * have been given.
 */
export const ensureTopics = async (kafka: Kafka, settings: KafkaSettings): Promise<readonly string[]> => {
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
    const replicas = settings.replicas ?? Math.min(usualReplicas, await brokersOf(admin));
    // Another process may make them at the same time: that counts as made.
    if (missing.length > 0)
      await admin.createTopics({
        // The library would ask another broker, which may not have heard of them.
        waitForLeaders: false,
        topics: missing.map(({ topic, partitions, retention }) => ({
          topic,
          numPartitions: partitions,
          replicationFactor: replicas,
          configEntries: [
            { name: 'cleanup.policy', value: 'delete' },
            { name: 'retention.ms', value: retention },
            // What is acknowledged is on half of them at least; while the other half is lost we still publish.
            { name: 'min.insync.replicas', value: String(Math.ceil(replicas / 2)) },
          ],
        })),
      });
    const deadline = Date.now() + patience;
    const thin: string[] = [];
    for (const { topic } of wanted) {
      const found = await replicasOnceLed(admin, topic, deadline);
      if (found !== undefined && found < replicas) thin.push(topic);
    }
    return thin;
  } finally {
    await admin.disconnect();
  }
};

const brokersOf = async (admin: Admin): Promise<number> => (await admin.describeCluster()).brokers.length;

/**
 * Of the partition that has the fewest. A broker that is named as a leader may learn of it a moment later, and refuses
 * what is published until then. One that has not by the deadline is left to publishing, which says what is wrong: other
 * partitions may do.
 */
const replicasOnceLed = async (
  admin: Admin,
  topic: string,
  deadline: number,
): Promise<number | undefined> => {
  for (;;) {
    try {
      await admin.fetchTopicOffsets(topic);
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
      const partitions = topics.flatMap((each) => each.partitions);
      return Math.min(...partitions.map(({ replicas }) => replicas.length));
    } catch {
      if (Date.now() > deadline) return undefined;
      await delay(pause);
    }
  }
};
