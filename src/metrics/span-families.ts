/** How the sending of spans goes in; its metrics out. */
import type { SpanStats } from '../ports/trace.ts';
import type { MetricFamily } from './exposition.ts';
import { counter, gauge } from './process.ts';

/** None where nothing is recorded. */
export const spanFamilies = (stats: SpanStats | undefined): readonly MetricFamily[] =>
  stats === undefined
    ? []
    : [
        counter('sluice_spans_exported_total', 'Spans that the collector took.', stats.exported),
        counter(
          'sluice_spans_dropped_total',
          'Spans that the collector refused, or that it was too far away or too slow for.',
          stats.dropped,
        ),
        gauge('sluice_spans_queued', 'Spans that wait to be sent.', stats.queued),
      ];
