/** Publishes unusable messages to a dead-letter topic, with headers for the reason and origin. */
import type { EachBatchPayload, Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import type { Rejected, Topic } from '../../ports/events.ts';
import { deadTopicName, type KafkaSettings } from './kafka-client.ts';
import { type KafkaProducer, newProducer } from './kafka-producer.ts';

export interface DeadLetterOffice {
  take(batch: EachBatchPayload['batch'], rejected: readonly Rejected[]): Promise<void>;
  close(): Promise<void>;
}

export const deadLetterOffice = (
  kafka: Kafka,
  settings: KafkaSettings,
  { topic, log }: { readonly topic: Topic; readonly log: Logger },
): DeadLetterOffice => {
  let producer: KafkaProducer | undefined;
  const connect = async (): Promise<KafkaProducer> => {
    const made = newProducer(kafka, settings, log);
    await made.connect();
    return made;
  };
  return {
    take: async (batch, rejected) => {
      producer ??= await connect();
      await producer.send(
        deadTopicName(settings, topic),
        rejected.map(({ index, reason }) => {
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
      );
    },
    close: async () => {
      await producer?.disconnect();
    },
  };
};
