/** How the sending of spans goes in; its metrics out. */
import type { SpanFigures } from '../ports/trace.ts';
import type { Family } from './exposition.ts';
import { counter, gauge } from './process.ts';

/** None where nothing is recorded. */
export const spanFamilies = (figures: SpanFigures | undefined): readonly Family[] =>
  figures === undefined
    ? []
    : [
        counter('sluice_spans_exported_total', 'Spans that the collector took.', figures.exported),
        counter(
          'sluice_spans_dropped_total',
          'Spans that the collector refused, or that it was too far away or too slow for.',
          figures.dropped,
        ),
        gauge('sluice_spans_queued', 'Spans that wait to be sent.', figures.queued),
      ];
