/** Polls how far a consumer group is behind a topic. */
import type { Admin } from 'kafkajs';
import type { Logger } from 'pino';
import type { Lag, Topic } from '../../ports/events.ts';
import { connectKafka, groupName, type KafkaSettings, topicName } from './kafka-client.ts';

interface LagWatch {
  /** Of each partition, as of the last look; empty when that failed. */
  readonly lag: readonly Lag[];
  close(): Promise<void>;
}

export interface Watched {
  readonly topic: Topic;
  readonly group: string;
  readonly log: Logger;
  /** Milliseconds between looks. */
  readonly everyMs?: number;
}

export const watchLag = (
  settings: KafkaSettings,
  { topic, group, log, everyMs = 10_000 }: Watched,
): LagWatch => {
  const [topicId, groupId] = [topicName(settings, topic), groupName(settings, group)];
  let admin: Admin | undefined;
  let lag: readonly Lag[] = [];
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    try {
      admin ??= await connected(settings, log);
      lag = await lagOf(admin, topicId, groupId);
    } catch (error) {
      log.debug({ err: error }, 'kafka lag unavailable');
      lag = [];
      const broken = admin;
      admin = undefined;
      await broken?.disconnect().catch(() => undefined);
    }
  };

  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, everyMs).unref();
  return {
    get lag() {
      return lag;
    },
    close: async () => {
      clearInterval(timer);
      await looking;
      await admin?.disconnect();
    },
  };
};

const connected = async (settings: KafkaSettings, log: Logger): Promise<Admin> => {
  const admin = connectKafka(settings, log).admin();
  await admin.connect();
  return admin;
};

/** A group that has committed nothing yet begins with the oldest message there is. */
const lagOf = async (admin: Admin, topic: string, groupId: string): Promise<readonly Lag[]> => {
  const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const offsets = await admin.fetchTopicOffsets(topic);
  return offsets
    .map(({ partition, low, high }) => {
      const own = committed?.partitions.find((each) => each.partition === partition)?.offset ?? '-1';
      return { partition, messages: Math.max(0, Number(high) - Math.max(Number(low), Number(own))) };
    })
    .sort((one, other) => one.partition - other.partition);
};
