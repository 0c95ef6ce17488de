/** kafkajs by our own adapter, as gateways use it. */
import { pino } from 'pino';
import { createKafkaEvents } from '../../../src/adapters/events/kafka.ts';
import { type Subscription, subscribeKafka } from '../../../src/adapters/events/kafka-subscription.ts';
import type { OpenClient } from '../client.ts';

const log = pino({ level: 'silent' });

export const open: OpenClient = async ({ brokers, prefix, group }) => {
  const settings = { brokers, prefix };
  const events = createKafkaEvents(settings, log);
  let subscription: Subscription | undefined;
  return {
    publish: (messages) => events.publish('usage', messages),
    consume: (receive) => {
      subscription = subscribeKafka({
        settings,
        topic: 'usage',
        group,
        log,
        receive: async (messages) => {
          receive(
            messages.map(({ value }) => (value instanceof Uint8Array ? value : Buffer.from(value ?? ''))),
          );
          return [];
        },
      });
    },
    close: async () => {
      await subscription?.stop();
      await events.close();
    },
  };
};
