/** Publishes unusable messages to a dead-letter topic, with headers for the reason and origin. */
import kafkajs, { type EachBatchPayload, type Kafka, type Producer } from 'kafkajs';
import type { Rejected, Topic } from '../../ports/events.ts';
import { deadTopicName, type KafkaSettings } from './kafka-client.ts';

export interface DeadLetterOffice {
  take(batch: EachBatchPayload['batch'], rejected: readonly Rejected[]): Promise<void>;
  close(): Promise<void>;
}

export const deadLetterOffice = (kafka: Kafka, settings: KafkaSettings, topic: Topic): DeadLetterOffice => {
  let producer: Producer | undefined;
  const connect = async (): Promise<Producer> => {
    const made = kafka.producer({
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await made.connect();
    return made;
  };
  return {
    take: async (batch, rejected) => {
      producer ??= await connect();
      await producer.send({
        topic: deadTopicName(settings, topic),
        acks: -1,
        messages: rejected.map(({ index, reason }) => {
          const message = batch.messages[index];
          return {
            key: message?.key ?? null,
            value: message?.value ?? null,
            headers: {
              ...message?.headers,
              reason,
              place: `${batch.topic}/${batch.partition}/${message?.offset}`,
            },
          };
        }),
      });
    },
    close: async () => {
      await producer?.disconnect();
    },
  };
};
