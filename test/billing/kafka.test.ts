/** Usage on its way through Kafka: published, read, set aside, shared, and never lost. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import t from 'tap';
import { createKafkaEvents } from '../../src/adapters/events/kafka.ts';
import type { KafkaSettings } from '../../src/adapters/events/kafka-client.ts';
import { subscribeKafka } from '../../src/adapters/events/kafka-subscription.ts';
import { eventsContract } from '../contracts/events.ts';
import { kafkaMissing, startKafka } from '../services/kafka.ts';

const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' });

t.test('Kafka', { skip: kafkaMissing() ?? false }, async (t) => {
  const service = await startKafka();
  t.teardown(() => service.stop());
  const newSettings = (): KafkaSettings => ({
    brokers: service.brokers.split(','),
    prefix: `sluice-test-${randomBytes(4).toString('hex')}`,
    tls: false,
    sasl: undefined,
  });
  await t.test('contract', (t) =>
    eventsContract(t, (receive) => {
      const settings = newSettings();
      const events = createKafkaEvents(settings, log);
      const subscription = subscribeKafka({ settings, topic: 'usage', group: 'billing', receive, log });
      return { events, stop: () => subscription.stop() };
    }),
  );
});
