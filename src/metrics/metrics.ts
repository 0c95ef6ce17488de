/** Collects the metric families of a process when they are scraped. */
import type { AdmissionStats } from '../ports/admission.ts';
import type { SpanStats } from '../ports/trace.ts';
import type { UsageLog } from '../ports/usage.ts';
import { counter, gauge, histogram, type MetricFamily } from './exposition.ts';
import { Operations } from './operations.ts';
import { watchProcess } from './process.ts';

export interface Metrics {
  /** The same log, with every event counted. */
  counted(usage: UsageLog): UsageLog;
  watch(source: () => readonly MetricFamily[]): void;
  /** Completion tokens that were counted so far, by model. */
  completionTokens(): ReadonlyMap<string, number>;
  families(): readonly MetricFamily[];
  close(): void;
}

export const createMetrics = (): Metrics => {
  const operations = new Operations();
  const ownProcess = watchProcess();
  const sources: (() => readonly MetricFamily[])[] = [];
  return {
    counted: (usage) => ({
      record: (event) => {
        operations.add(event);
        return usage.record(event);
      },
      ensureOpen: () => usage.ensureOpen(),
      close: () => usage.close(),
    }),
    watch: (source) => void sources.push(source),
    completionTokens: () => operations.completionTokens(),
    families: () => [
      ...operationFamilies(operations),
      ...sources.flatMap((source) => source()),
      ...ownProcess.families(),
    ],
    close: () => ownProcess.close(),
  };
};

const operationFamilies = (operations: Operations): readonly MetricFamily[] => {
  const duration = (name: string, help: string, which: 'queued' | 'firstToken' | 'total') =>
    histogram(name, help, operations.histogram(name, which));
  return [
    counter(
      'sluice_operations_total',
      'Billable operations that ended, by route, model and outcome.',
      operations.ended(),
    ),
    counter(
      'sluice_tokens_total',
      'Tokens by kind; failed operations are not billed for theirs.',
      operations.tokens(),
    ),
    counter(
      'sluice_cost_dollars_total',
      'Cost of billed operations; the ledger is exact, this is not.',
      operations.costs(),
    ),
    duration('sluice_queue_wait_seconds', 'Time an operation waited for a slot.', 'queued'),
    duration(
      'sluice_first_token_seconds',
      'Time from admission until the first token, the wait included.',
      'firstToken',
    ),
    duration('sluice_operation_seconds', 'Time until an operation ended, the wait included.', 'total'),
  ];
};

export const admissionFamilies = (stats: AdmissionStats): readonly MetricFamily[] => [
  gauge('sluice_admission_running', 'Operations that hold a slot.', stats.running),
  gauge('sluice_admission_waiting', 'Operations that wait for a slot.', stats.waiting),
  gauge(
    'sluice_admission_shared',
    '1 while limits are counted over all replicas, as far as they share a service.',
    stats.shared ? 1 : 0,
  ),
  counter('sluice_admission_refused_total', 'Operations refused with 429, by what was full.', [
    { labels: { full: 'window' }, value: stats.refusedByRate },
    { labels: { full: 'queue' }, value: stats.refusedByQueue },
  ]),
  counter('sluice_admission_tokens_total', 'Tokens that slots were released with, by kind.', [
    { labels: { kind: 'prompt' }, value: stats.promptTokens },
    { labels: { kind: 'completion' }, value: stats.completionTokens },
  ]),
];

/** None where tracing is off. */
export const spanFamilies = (stats: SpanStats | undefined): readonly MetricFamily[] =>
  stats === undefined
    ? []
    : [
        counter('sluice_spans_exported_total', 'Spans that the collector accepted.', stats.exported),
        counter(
          'sluice_spans_dropped_total',
          'Spans that the collector refused, or could not take in time.',
          stats.dropped,
        ),
        gauge('sluice_spans_queued', 'Spans that wait to be sent.', stats.queued),
      ];

interface StoreStats {
  readonly persistence: string;
  readonly restores: number;
}

export const storeFamilies = ({ persistence, restores }: StoreStats): readonly MetricFamily[] => [
  gauge('sluice_store_persistence', '1 for how the store of keys and records keeps its data on disk.', [
    { labels: { kind: persistence }, value: 1 },
  ]),
  counter(
    'sluice_key_restores_total',
    'Times that keys were restored because the store had lost them.',
    restores,
  ),
];
