/** kafkajs alone, with the retries that it makes by itself. */
import kafkajs, { type Consumer } from 'kafkajs';
import type { OpenClient } from '../client.ts';

export const open: OpenClient = async ({ brokers, topic, group }) => {
  const kafka = new kafkajs.Kafka({
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 8 },
  });
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  let consumer: Consumer | undefined;
  return {
    publish: async (messages) => {
      await producer.send({ topic, acks: -1, messages: [...messages] });
    },
    consume: (receive) => {
      const started = kafka.consumer({ groupId: group, maxWaitTimeInMs: 500, minBytes: 1024 * 1024 });
      consumer = started;
      const run = async (): Promise<void> => {
        await started.connect();
        await started.subscribe({ topic, fromBeginning: true });
        await started.run({
          autoCommit: false,
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
