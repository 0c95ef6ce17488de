/** `@confluentinc/kafka-javascript`: bindings of librdkafka, by its promise interface. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { OpenClient } from '../client.ts';

interface Message {
  readonly value: Uint8Array | null;
}

interface Batch {
  readonly batch: { readonly partition: number; readonly messages: readonly Message[]; lastOffset(): string };
}

interface Producer {
  connect(): Promise<void>;
  send(what: { topic: string; messages: readonly object[] }): Promise<unknown>;
  disconnect(): Promise<void>;
}

interface Consumer {
  connect(): Promise<void>;
  subscribe(what: { topic: string }): Promise<void>;
  run(how: { eachBatchAutoResolve: boolean; eachBatch(batch: Batch): Promise<void> }): Promise<void>;
  commitOffsets(offsets: readonly { topic: string; partition: number; offset: string }[]): Promise<void>;
  disconnect(): Promise<void>;
}

interface Package {
  readonly KafkaJS: {
    readonly Kafka: new (
      options: object,
    ) => { producer(options: object): Producer; consumer(options: object): Consumer };
    readonly logLevel: { readonly NOTHING: number };
  };
}

export const open: OpenClient = async ({ brokers, topic, group, folder }) => {
  const { KafkaJS } = createRequire(join(folder, 'package.json'))(
    '@confluentinc/kafka-javascript',
  ) as Package;
  const kafka = new KafkaJS.Kafka({ kafkaJS: { brokers, logLevel: KafkaJS.logLevel.NOTHING } });
  // As long as ours may take, so that both report the same outages.
  const producer = kafka.producer({
    kafkaJS: { idempotent: true, acks: -1 },
    'linger.ms': 0,
    'message.timeout.ms': 10_000,
  });
  await producer.connect();
  let consumer: Consumer | undefined;
  return {
    publish: async (messages) => {
      await producer.send({ topic, messages });
    },
    consume: (receive) => {
      const started = kafka.consumer({
        kafkaJS: { groupId: group, fromBeginning: true, autoCommit: false },
        'fetch.min.bytes': 1024 * 1024,
        'fetch.wait.max.ms': 500,
        'session.timeout.ms': 10_000,
        // Batches as large as ours.
        'js.consumer.max.batch.size': -1,
      });
      consumer = started;
      const run = async (): Promise<void> => {
        await started.connect();
        await started.subscribe({ topic });
        await started.run({
          eachBatchAutoResolve: true,
          eachBatch: async ({ batch }) => {
            receive(batch.messages.map(({ value }) => value ?? Buffer.alloc(0)));
            const offset = String(BigInt(batch.lastOffset()) + 1n);
            await started.commitOffsets([{ topic, partition: batch.partition, offset }]);
          },
        });
      };
      run().catch((error: unknown) => console.error('consumer ended', error));
    },
    close: async () => {
      await consumer?.disconnect();
      await producer.disconnect();
    },
  };
};
