/** The Events port on Kafka: an idempotent producer, acknowledged by all in-sync replicas. */
import kafkajs, { type Message, type Producer } from 'kafkajs';
import type { Logger } from 'pino';
import type { EventMessage, Events, Topic } from '../../ports/events.ts';
import { connectKafka, type KafkaSettings, kafkaFailure, topicName } from './kafka-client.ts';
import { ensureTopics } from './kafka-topics.ts';

/** Characters of one publication: brokers refuse a batch of more than a megabyte, and a character may take three bytes. */
const portion = 300_000;

export const createKafkaEvents = (settings: KafkaSettings, log: Logger): Events => {
  const kafka = connectKafka(settings, log);
  let connected: Promise<Producer> | undefined;
  /** One publication at a time: order is kept, and what is under way has a bound. */
  let last: Promise<unknown> = Promise.resolve();
  let open = true;

  const connect = async (): Promise<Producer> => {
    await ensureTopics(kafka, settings);
    const producer = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 3 },
    });
    await producer.connect();
    return producer;
  };

  /** A producer that failed is thrown away: its sequence numbers may not be those the broker expects. */
  const abandon = async (): Promise<void> => {
    const failed = connected;
    connected = undefined;
    try {
      await (await failed)?.disconnect();
    } catch (error) {
      log.debug({ err: error }, 'kafka: a failed producer did not say goodbye');
    }
  };

  const send = async (topic: Topic, messages: readonly EventMessage[]): Promise<void> => {
    if (!open) throw new Error('Events are closed.');
    try {
      connected ??= connect();
      const producer = await connected;
      for (const part of portions(messages))
        await producer.send({ topic: topicName(settings, topic), acks: -1, messages: part });
    } catch (error) {
      await abandon();
      throw kafkaFailure(settings, error);
    }
  };

  return {
    publish: (topic, messages) => {
      const sent = last.then(() => send(topic, messages));
      last = sent.catch(() => undefined); // the caller has it
      return sent;
    },
    check: async () => {
      if (!open) throw new Error('Events are closed.');
      try {
        connected ??= connect();
        await connected;
      } catch (error) {
        await abandon();
        throw kafkaFailure(settings, error);
      }
    },
    close: async () => {
      open = false;
      await last;
      await abandon();
    },
  };
};

function* portions(messages: readonly EventMessage[]): Generator<Message[]> {
  let part: Message[] = [];
  let characters = 0;
  for (const { key, value } of messages) {
    const size = key.length + value.length;
    if (characters + size > portion && part.length > 0) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push({ key, value });
    characters += size;
  }
  if (part.length > 0) yield part;
}
