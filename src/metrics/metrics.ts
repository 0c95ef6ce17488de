/** What a gateway holds in; its metrics out, gathered when somebody asks. */
import type { AdmissionStats } from '../ports/admission.ts';
import type { UsageLog } from '../ports/usage.ts';
import type { MetricFamily } from './exposition.ts';
import { Operations } from './operations.ts';
import { gauge, watchProcess } from './process.ts';

export interface Metrics {
  /** The log, counted as it passes. */
  counted(usage: UsageLog): UsageLog;
  watch(source: () => readonly MetricFamily[]): void;
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
    families: () => [
      ...operationFamilies(operations),
      ...sources.flatMap((source) => source()),
      ...ownProcess.families(),
    ],
    close: () => ownProcess.close(),
  };
};

const operationFamilies = (operations: Operations): readonly MetricFamily[] => [
  {
    name: 'sluice_operations_total',
    help: 'Billable operations that ended, by route, model and outcome.',
    type: 'counter',
    samples: operations.ended(),
  },
  {
    name: 'sluice_tokens_total',
    help: 'Tokens by kind; failed operations are not billed for theirs.',
    type: 'counter',
    samples: operations.tokens(),
  },
  {
    name: 'sluice_cost_dollars_total',
    help: 'What operations cost, as far as they are billed; the ledger is exact, this is not.',
    type: 'counter',
    samples: operations.costs(),
  },
  {
    name: 'sluice_queue_wait_seconds',
    help: 'Time an operation waited for a slot.',
    type: 'histogram',
    samples: operations.histogram('sluice_queue_wait_seconds', 'queued'),
  },
  {
    name: 'sluice_first_token_seconds',
    help: 'Time from admission until the first token, the wait included.',
    type: 'histogram',
    samples: operations.histogram('sluice_first_token_seconds', 'firstToken'),
  },
  {
    name: 'sluice_operation_seconds',
    help: 'Time until an operation ended, the wait included.',
    type: 'histogram',
    samples: operations.histogram('sluice_operation_seconds', 'total'),
  },
];

export const admissionFamilies = (stats: AdmissionStats): readonly MetricFamily[] => [
  gauge('sluice_admission_running', 'Operations that hold a slot.', stats.running),
  gauge('sluice_admission_waiting', 'Operations that wait for a slot.', stats.waiting),
  gauge(
    'sluice_admission_shared',
    '1 while limits are counted over all replicas, as far as they share a service.',
    stats.shared ? 1 : 0,
  ),
  {
    name: 'sluice_admission_refused_total',
    help: 'Operations refused with 429, by what was full.',
    type: 'counter',
    samples: [
      { labels: { full: 'window' }, value: stats.refusedByRate },
      { labels: { full: 'queue' }, value: stats.refusedByQueue },
    ],
  },
  {
    name: 'sluice_admission_tokens_total',
    help: 'Tokens that slots were released with, by kind.',
    type: 'counter',
    samples: [
      { labels: { kind: 'prompt' }, value: stats.promptTokens },
      { labels: { kind: 'completion' }, value: stats.completionTokens },
    ],
  },
];
