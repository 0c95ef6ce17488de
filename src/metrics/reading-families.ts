/** How the reading of a topic goes in; its metrics out. */
import type { ReadingStats } from '../ports/events.ts';
import type { MetricFamily } from './exposition.ts';
import { counter, gauge } from './process.ts';

/** None where nothing is read: usage that goes straight into the ledger. */
export const readingFamilies = (stats: ReadingStats | undefined): readonly MetricFamily[] =>
  stats === undefined
    ? []
    : [
        gauge('sluice_usage_reading', '1 while usage is read from Kafka.', stats.reading ? 1 : 0),
        {
          name: 'sluice_kafka_lag_messages',
          help: 'Usage in Kafka that is not in the ledger yet, by partition; none while Kafka cannot be asked.',
          type: 'gauge',
          samples: stats.lag.map(({ partition, messages }) => ({
            labels: { partition: String(partition) },
            value: messages,
          })),
        },
        counter('sluice_usage_batches_total', 'Batches of usage that the ledger took.', stats.batches),
        counter('sluice_usage_messages_total', 'Messages of these batches.', stats.messages),
        counter(
          'sluice_usage_dead_letters_total',
          'Messages that cannot be counted, set aside for people to look at.',
          stats.deadLetters,
        ),
        counter(
          'sluice_usage_retries_total',
          'Batches that the ledger did not take at the first try, once a try.',
          stats.retries,
        ),
      ];
