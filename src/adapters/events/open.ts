/** Opens the configured Events adapter, and the reader of usage into the ledger. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Events, Reading, Receiver } from '../../ports/events.ts';
import type { KafkaSettings } from './kafka-client.ts';

export interface EventsConfig {
  readonly dataDir: string;
  readonly kafka: KafkaSettings | undefined;
}

// Kafka's library is loaded when it is chosen.
export const openEvents = async (
  { dataDir, kafka }: EventsConfig,
  usage: Receiver,
  log: Logger,
): Promise<Events> => {
  if (kafka !== undefined) return (await import('./kafka.ts')).createKafkaEvents(kafka, log);
  const { createLocalEvents } = await import('./local.ts');
  return createLocalEvents({ usage, rejectedFile: join(dataDir, 'rejected-usage.log'), log });
};

/** Events of jobs from now on, all of them to every process that reads; closing it stops. */
export const readJobs = async (
  settings: KafkaSettings,
  receive: Receiver,
  log: Logger,
): Promise<{ close(): Promise<void> }> => {
  const { subscribeKafka } = await import('./kafka-subscription.ts');
  const group = `jobs-${randomBytes(8).toString('hex')}`;
  // The broker replies as soon as there is an event; the wait only bounds how often it is asked for none, and what a stop takes.
  const batch = { bytes: 1, ms: 1000 };
  const subscription = subscribeKafka({ settings, topic: 'jobs', group, receive, log, batch, from: 'now' });
  return { close: () => subscription.stop() };
};

/** Usage from Kafka into its receiver; closing it stops. */
export const readUsage = async (
  settings: KafkaSettings,
  receive: Receiver,
  log: Logger,
): Promise<Reading> => {
  const [{ subscribeKafka }, { watchLag }] = await Promise.all([
    import('./kafka-subscription.ts'),
    import('./kafka-lag.ts'),
  ]);
  const what = { topic: 'usage', group: 'billing', log } as const;
  const subscription = subscribeKafka({ settings, receive, ...what });
  const watch = watchLag(settings, what);
  return {
    stats: () => ({ ...subscription.stats(), lag: watch.lag }),
    close: async () => {
      await watch.close();
      await subscription.stop();
    },
  };
};
