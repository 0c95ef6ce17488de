/** Metric families of the parts that gateways, workers and billing share. */
import type { Engines } from '../ports/engines/engine.ts';
import type { Reading, ReadingStats } from '../ports/events.ts';
import type { UsageLog } from '../ports/usage.ts';
import { type EngineState, engineFamilies } from './engine-families.ts';
import { counter, gauge, type MetricFamily } from './exposition.ts';

export interface Service {
  readonly engines: Pick<Engines, 'health'> & { stats(): ReadonlyMap<string, EngineState> };
  readonly accounts: {
    /** `lag`: bytes of usage on disk that are not shipped yet. */
    readonly usage: {
      lag(): number;
      damage(): { readonly damaged: number; readonly torn: number };
    } & Pick<UsageLog, 'ensureOpen'>;
    readonly reading: Pick<Reading, 'stats'> | undefined;
  };
  readonly jobs: { rendering(): number };
  readonly sender: {
    readonly sending: number;
    readonly ended: { readonly delivered: number; readonly failed: number };
  };
  /** Concurrent renders. */
  readonly slots: number;
}

export const serviceFamilies = ({
  engines,
  accounts,
  jobs,
  sender,
  slots,
}: Service): readonly MetricFamily[] => [
  ...engineFamilies(engines.health(), engines.stats()),
  gauge('sluice_journal_lag_bytes', 'Usage on disk that is not shipped yet.', accounts.usage.lag()),
  counter(
    'sluice_journal_unreadable_lines_total',
    'Journal lines that could not be read: damaged ones were set aside unbilled, torn ones never acknowledged.',
    Object.entries(accounts.usage.damage()).map(([kind, value]) => ({ labels: { kind }, value })),
  ),
  gauge(
    'sluice_journal_open',
    '1 while usage can be kept; 0 while billable requests are refused because it cannot.',
    isOpen(accounts.usage) ? 1 : 0,
  ),
  ...readingFamilies(accounts.reading?.stats()),
  gauge('sluice_renders', 'Videos and songs that this process renders.', jobs.rendering()),
  gauge('sluice_render_slots', 'Videos and songs that it may render at once.', slots),
  gauge('sluice_webhook_attempts', 'Webhook deliveries under way.', sender.sending),
  counter(
    'sluice_webhook_attempts_ended_total',
    'Attempts to deliver a webhook that ended, by outcome; failed ones are tried again.',
    Object.entries(sender.ended).map(([outcome, value]) => ({ labels: { outcome }, value })),
  ),
];

/** None until it was found. */
export const codecFamilies = (
  info: { readonly version: string; readonly provider: string; readonly sandbox: string } | undefined,
): readonly MetricFamily[] => {
  if (info === undefined) return [];
  const { version, provider, sandbox } = info;
  const labels = { version, provider, sandbox };
  return [
    gauge('sluice_codec_info', 'The ffmpeg that is used, and how it is confined.', [{ labels, value: 1 }]),
  ];
};

/** None where usage goes straight into the ledger, without Kafka. */
export const readingFamilies = (stats: ReadingStats | undefined): readonly MetricFamily[] =>
  stats === undefined
    ? []
    : [
        gauge('sluice_usage_reading', '1 while usage is read from Kafka.', stats.reading ? 1 : 0),
        gauge(
          'sluice_kafka_lag_messages',
          'Usage in Kafka that is not in the ledger yet, by partition; none while Kafka does not respond.',
          stats.lag.map(({ partition, messages }) => ({
            labels: { partition: String(partition) },
            value: messages,
          })),
        ),
        counter('sluice_usage_batches_total', 'Batches of usage that the ledger took.', stats.batches),
        counter('sluice_usage_messages_total', 'Messages of these batches.', stats.messages),
        counter(
          'sluice_usage_dead_letters_total',
          'Messages that cannot be counted, dead-lettered for inspection.',
          stats.deadLetters,
        ),
        counter(
          'sluice_usage_retries_total',
          'Retries of batches that the ledger did not take.',
          stats.retries,
        ),
      ];

/** `ensureOpen` throws when the disk is full, or when too much waits to be shipped. */
const isOpen = (usage: Pick<UsageLog, 'ensureOpen'>): boolean => {
  try {
    usage.ensureOpen();
    return true;
  } catch {
    return false;
  }
};
