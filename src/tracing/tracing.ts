/** Traces requests and their engine calls, and exports the sampled ones. */
import type { UsageEvent } from '../../schemas/usage-event.ts';
import type { CallSpan, Trace, TracedCall, TracedRequest, Tracing } from '../ports/trace.ts';
import { type Collector, Exporter, type ExportOptions } from './exporter.ts';
import { newSpanId, newTraceId, type Span, startSpan, wallClock } from './span.ts';
import {
  contextLines,
  isSampled,
  propagated,
  readParent,
  readState,
  type SamplerSettings,
  sampledFlag,
} from './trace-context.ts';

export interface TracingSettings extends Collector {
  readonly sampler: SamplerSettings;
}

export const createTracing = (settings: TracingSettings, options: ExportOptions): Tracing => {
  const { sampler, ...collector } = settings;
  const exporter = new Exporter({ ...collector, ...options });
  const running = new Map<string, RequestTrace>();
  return {
    begin: (request) => {
      const parent = readParent(request.traceparent);
      const traceId = parent?.traceId ?? newTraceId();
      if (!isSampled(sampler, traceId, parent))
        return propagated(request.traceparent, request.tracestate) ?? unrecorded(traceId);
      const trace = new RequestTrace(request, { traceId, parentId: parent?.spanId ?? '' }, exporter, running);
      running.set(request.id, trace);
      return trace;
    },
    watching: (usage) => ({
      record: (event) => {
        running.get(event.request_id)?.used(event);
        return usage.record(event);
      },
      ensureOpen: () => usage.ensureOpen(),
      close: () => usage.close(),
    }),
    stats: () => exporter.stats(),
    close: () => exporter.close(),
  };
};

/** Not sampled: the id still correlates log lines, and the flags keep engines from recording. */
const unrecorded = (traceId: string): Trace => ({
  id: traceId,
  lines: contextLines({ traceId, spanId: newSpanId(), flags: 0 }, ''),
  startCall: () => undefined,
  end: () => undefined,
});

/** Any other method is recorded as `_OTHER`, which bounds the names. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

class RequestTrace implements Trace {
  readonly id: string;
  readonly lines: string;
  readonly #span: Span;
  readonly #requestId: string;
  readonly #exporter: Exporter;
  readonly #running: Map<string, RequestTrace>;

  constructor(
    { id, method, route, tracestate }: TracedRequest,
    { traceId, parentId }: { readonly traceId: string; readonly parentId: string },
    exporter: Exporter,
    running: Map<string, RequestTrace>,
  ) {
    const known = methods.has(method) ? method : '_OTHER';
    const path = route === undefined ? undefined : `/v1${route}`;
    const state = parentId === '' ? '' : readState(tracestate);
    const name = path === undefined ? known : `${known} ${path}`;
    this.#span = startSpan({ traceId, spanId: newSpanId(), parentId, state, name, kind: 'server' });
    this.id = traceId;
    this.lines = linesOf(this.#span);
    this.#requestId = id;
    this.#exporter = exporter;
    this.#running = running;
    const { attributes } = this.#span;
    attributes['http.request.method'] = known;
    if (path !== undefined) attributes['http.route'] = path;
    attributes['sluice.request_id'] = id;
  }

  startCall(call: TracedCall): CallSpan {
    return new EngineSpan(this.#span, call, this.#exporter);
  }

  /** Adds model, tokens and cost, once they are known. */
  used(event: UsageEvent): void {
    const { attributes, events } = this.#span;
    const { prompt_tokens, completion_tokens } = event.quantities;
    attributes['gen_ai.request.model'] = event.requested_model ?? event.model;
    if (event.requested_model !== undefined) attributes['gen_ai.response.model'] = event.model;
    attributes['gen_ai.usage.input_tokens'] = prompt_tokens;
    attributes['gen_ai.usage.output_tokens'] = completion_tokens;
    attributes['sluice.engine'] = event.engine;
    attributes['sluice.outcome'] = event.outcome;
    attributes['sluice.queued_ms'] = event.queued_ms;
    attributes['sluice.cost'] = event.cost;
    if (event.first_token_ms !== null)
      events.push({ name: 'first token', time: event.time - event.total_ms + event.first_token_ms });
  }

  end(status: number, cut: string | undefined): void {
    // Only once.
    if (!this.#running.delete(this.#requestId)) return;
    const span = this.#span;
    if (status > 0) span.attributes['http.response.status_code'] = status;
    if (cut !== undefined) span.attributes['sluice.cut'] = cut;
    span.failed = status >= 500 || cut === 'failed';
    if (span.failed) span.attributes['error.type'] = cut ?? String(status);
    finish(span, this.#exporter);
  }
}

class EngineSpan implements CallSpan {
  readonly lines: string;
  readonly #span: Span;
  readonly #exporter: Exporter;

  constructor(parent: Span, { method, path, replica, retries }: TracedCall, exporter: Exporter) {
    const { traceId, spanId: parentId, state } = parent;
    const name = `${method} ${path}`;
    this.#span = startSpan({ traceId, spanId: newSpanId(), parentId, state, name, kind: 'client' });
    this.lines = linesOf(this.#span);
    this.#exporter = exporter;
    const { hostname, port, protocol } = new URL(replica);
    const { attributes } = this.#span;
    attributes['http.request.method'] = method;
    attributes['url.full'] = replica + path;
    attributes['server.address'] = hostname;
    attributes['server.port'] = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
    if (retries > 0) attributes['http.request.resend_count'] = retries;
  }

  answered(): void {
    this.#span.events.push({ name: 'first byte', time: wallClock() });
  }

  end(failure: { readonly kind: string } | undefined): void {
    this.#span.failed = failure !== undefined;
    if (failure !== undefined) this.#span.attributes['error.type'] = failure.kind;
    finish(this.#span, this.#exporter);
  }
}

const linesOf = ({ traceId, spanId, state }: Span): string =>
  contextLines({ traceId, spanId, flags: sampledFlag }, state);

const finish = (span: Span, exporter: Exporter): void => {
  span.end = wallClock();
  exporter.add(span);
};
