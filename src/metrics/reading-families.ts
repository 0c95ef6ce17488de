/** How the reading of a topic goes in; its metrics out. */
import type { ReadingFigures } from '../ports/events.ts';
import type { Family } from './exposition.ts';
import { counter, gauge } from './process.ts';

/** None where nothing is read: usage that goes straight into the ledger. */
export const readingFamilies = (figures: ReadingFigures | undefined): readonly Family[] =>
  figures === undefined
    ? []
    : [
        gauge('sluice_usage_reading', '1 while usage is read from Kafka.', figures.reading ? 1 : 0),
        {
          name: 'sluice_kafka_lag_messages',
          help: 'Usage in Kafka that is not in the ledger yet, by partition; none while Kafka cannot be asked.',
          type: 'gauge',
          samples: figures.lag.map(({ partition, messages }) => ({
            labels: { partition: String(partition) },
            value: messages,
          })),
        },
        counter('sluice_usage_batches_total', 'Batches of usage that the ledger took.', figures.batches),
        counter('sluice_usage_messages_total', 'Messages of these batches.', figures.messages),
        counter(
          'sluice_usage_dead_letters_total',
          'Messages that cannot be counted, set aside for people to look at.',
          figures.deadLetters,
        ),
        counter(
          'sluice_usage_retries_total',
          'Batches that the ledger did not take at the first try, once a try.',
          figures.retries,
        ),
      ];
