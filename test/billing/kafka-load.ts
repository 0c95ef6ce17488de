/** Publishes and consumes usage without a pause, and compares what was acknowledged with what was counted. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { pino } from 'pino';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import { type KafkaSettings, topicName } from '../../src/adapters/events/kafka-client.ts';
import { kafkajs } from '../../src/adapters/events/kafka-corrections.ts';
import { type Subscription, subscribeKafka } from '../../src/adapters/events/kafka-subscription.ts';
import { receiveUsage } from '../../src/billing/receive-usage.ts';
import type { Ledger } from '../../src/ports/ledger.ts';
import { eventually } from '../eventually.ts';
import { usageEvent } from './usage-events.ts';

const log = pino({ level: 'silent' });
const always = { from: 0, to: Number.MAX_SAFE_INTEGER };
/** Events of one publication, and the pause after it. */
const portion = 40;
const pauseMs = 10;

export interface Load {
  /** Events that were published for good. */
  readonly acknowledged: number;
  /** Publications that were refused, and made again. */
  readonly refused: number;
  /** The longest time without an acknowledgement, in milliseconds. */
  readonly gap: number;
  /** Resolves when another so many events are acknowledged. */
  more(events: number): Promise<void>;
  consume(): Subscription;
  /** Ends publishing, waits until all is counted, and returns what the ledger has of it. */
  settle(): Promise<{
    readonly missing: readonly string[];
    readonly counted: number;
    readonly copies: number;
  }>;
  /** Wherever it stands. */
  stop(): Promise<void>;
}

export const startLoad = (settings: KafkaSettings, ledger: Ledger): Load => {
  const events = createKafkaEvents(settings, log);
  const acknowledged = new Set<string>();
  const consumers = new Set<Subscription>();
  const receive = receiveUsage(ledger);
  let [refused, gap, delivered] = [0, 0, 0];
  let last = Date.now();
  let publishing = true;

  const publishUntilStopped = async (): Promise<void> => {
    while (publishing) {
      const some = Array.from({ length: portion }, (_, n) => usageEvent({ subscription: `sub_${n}` }));
      const messages = some.map((event) => ({ key: event.subscription, value: JSON.stringify(event) }));
      // As from a journal: the same again until it is acknowledged.
      while (!(await published(messages)) && publishing) await delay(100);
      if (publishing) for (const { id } of some) acknowledged.add(id);
      gap = Math.max(gap, Date.now() - last);
      last = Date.now();
      await delay(pauseMs);
    }
  };
  const published = (messages: { key: string; value: string }[]): Promise<boolean> =>
    events.publish('usage', messages).then(
      () => true,
      () => {
        refused++;
        return false;
      },
    );
  const running = publishUntilStopped();

  const ids = async (): Promise<Set<string>> => {
    const found = new Set<string>();
    for (const { id } of await ledger.list(always, { limit: 1_000_000 })) found.add(id);
    return found;
  };
  const end = async (): Promise<void> => {
    publishing = false;
    await running;
    await Promise.all([...consumers].map((consumer) => consumer.stop()));
    await events.close();
  };
  return {
    get acknowledged() {
      return acknowledged.size;
    },
    get refused() {
      return refused;
    },
    get gap() {
      return Math.max(gap, Date.now() - last);
    },
    more: async (count) => {
      const goal = acknowledged.size + count;
      await eventually(() => acknowledged.size >= goal, `${count} more events acknowledged`, 60);
    },
    consume: () => {
      const subscription = subscribeKafka({
        settings,
        topic: 'usage',
        group: 'billing',
        log,
        batch: { bytes: 1, ms: 100 },
        receive: async (messages, signal) => {
          const rejected = await receive(messages, signal);
          delivered += messages.length;
          return rejected;
        },
      });
      const consumer: Subscription = {
        stats: subscription.stats,
        stop: async () => {
          consumers.delete(consumer);
          await subscription.stop();
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    settle: async () => {
      publishing = false;
      await running;
      let found = await ids();
      const missing = () => [...acknowledged].filter((id) => !found.has(id));
      await eventually(
        async () => {
          found = await ids();
          return missing().length === 0;
        },
        'all that was acknowledged is counted',
        60,
      ).catch(() => undefined); // what is missing is returned
      await end();
      const [total] = await ledger.totals(always, [], { limit: 1 });
      return { missing: missing(), counted: total?.requests ?? 0, copies: delivered - found.size };
    },
    stop: end,
  };
};

/** A look at the cluster past the adapter. */
export const withAdmin = async <T>(
  settings: KafkaSettings,
  look: (admin: Admin) => Promise<T>,
): Promise<T> => {
  const admin = new kafkajs.Kafka({
    brokers: [...settings.brokers],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    return await look(admin);
  } finally {
    await admin.disconnect();
  }
};

export interface PartitionState {
  readonly leader: number;
  readonly replicas: readonly number[];
  readonly isr: readonly number[];
}

export const partitionsOf = (settings: KafkaSettings): Promise<readonly PartitionState[]> =>
  withAdmin(settings, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topicName(settings, 'usage')] });
    return topics.flatMap(({ partitions }) => partitions);
  });

/** After a broker came back: all replicas of all partitions are in sync. */
export const healed = (settings: KafkaSettings): Promise<boolean> =>
  eventually(
    async () => {
      const partitions = await partitionsOf(settings).catch(() => []);
      return partitions.length > 0 && partitions.every(({ isr, replicas }) => isr.length === replicas.length);
    },
    'all replicas in sync',
    60,
  );
