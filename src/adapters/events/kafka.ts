/** The Events port on Kafka: an idempotent producer, acknowledged by all in-sync replicas. */
import type { Message } from 'kafkajs';
import type { Logger } from 'pino';
import { within } from '../../helpers/within.ts';
import type { EventMessage, Events, Topic } from '../../ports/events.ts';
import { connectKafka, type KafkaSettings, kafkaFailure, topicName } from './kafka-client.ts';
import { mostOverhead } from './kafka-encoding.ts';
import { type KafkaProducer, newProducer } from './kafka-producer.ts';
import { ensureTopics } from './kafka-topics.ts';

/** Bytes of one publication: brokers refuse a batch of more than a megabyte. */
const portion = 900_000;
/** Milliseconds for connecting and for one portion: a broker that hangs must not hold up what others would take. */
const connectMs = 20_000;
const portionMs = 12_000;

export const createKafkaEvents = (settings: KafkaSettings, log: Logger): Events => {
  const kafka = connectKafka(settings, log);
  let connected: Promise<KafkaProducer> | undefined;
  /** One publication at a time: order is kept, and what is under way has a bound. */
  let last: Promise<unknown> = Promise.resolve();
  let open = true;
  let warned = false;
  if (settings.sasl?.mechanism === 'plain' && settings.tls === undefined)
    log.warn('kafka password is sent without encryption; set KAFKA_TLS');

  const connect = async (): Promise<KafkaProducer> => {
    const thin = await ensureTopics(kafka, settings);
    if (thin.length > 0 && !warned) {
      warned = true;
      log.warn({ topics: thin }, 'kafka topics have too few replicas to survive the loss of a broker');
    }
    const producer = newProducer(kafka, settings, log);
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
      const producer = await inTime(connectMs, connected);
      for (const part of portions(messages))
        await inTime(portionMs, producer.send(topicName(settings, topic), part));
    } catch (error) {
      void abandon(); // what hangs may take long to end
      throw kafkaFailure(settings, error);
    }
  };

  return {
    // With 300, a response took 207 instead of 166 µs of CPU time where the same process inserts into ClickHouse.
    batch: 900,
    takesBytes: true,
    publish: (topic, messages) => {
      const sent = last.then(() => send(topic, messages));
      last = sent.catch(() => undefined); // the caller has it
      return sent;
    },
    check: async () => {
      if (!open) throw new Error('Events are closed.');
      try {
        connected ??= connect();
        await inTime(connectMs, connected);
      } catch (error) {
        void abandon();
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

const inTime = <T>(ms: number, work: Promise<T>): Promise<T> =>
  within(ms, work, () => {
    throw new Error(`no response within ${ms / 1000} seconds`);
  });

function* portions(messages: readonly EventMessage[]): Generator<Message[]> {
  let part: Message[] = [];
  let bytes = 0;
  for (const { key, value } of messages) {
    const size = mostBytes(key) + mostBytes(value) + mostOverhead;
    if (bytes + size > portion && part.length > 0) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push({ key, value });
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** A character takes at most three. */
const mostBytes = (value: string | Buffer): number =>
  typeof value === 'string' ? value.length * 3 : value.length;
