/** Serializes spans as an ExportTraceServiceRequest of the OpenTelemetry protocol, in JSON. */
import type { Span, SpanValue } from './span.ts';

export type Resource = Readonly<Record<string, SpanValue>>;

/** Enumerations of the protocol. */
const kinds = { server: 2, client: 3 } as const;
const [unset, error] = [0, 2];

export const exportRequest = (spans: readonly Span[], resource: Resource, version: string): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [{ scope: { name: 'sluice', version }, spans: spans.map(spanJson) }],
      },
    ],
  });

const spanJson = (span: Span): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId === '' ? {} : { parentSpanId: span.parentId }),
  ...(span.state === '' ? {} : { traceState: span.state }),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: nanoseconds(span.start),
  endTimeUnixNano: nanoseconds(span.end),
  attributes: attributes(span.attributes),
  events: span.events.map(({ name, time }) => ({ name, timeUnixNano: nanoseconds(time) })),
  status: { code: span.failed ? error : unset },
});

const attributes = (values: Readonly<Record<string, SpanValue>>): readonly object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

/** 64-bit integers are strings in this JSON. */
const anyValue = (value: SpanValue): object => {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** Exact to the microsecond, like the clock. */
const nanoseconds = (milliseconds: number): string => `${Math.round(milliseconds * 1000)}000`;
