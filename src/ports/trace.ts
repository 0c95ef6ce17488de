/** The trace of a request: what logs and engines get of it, and what is recorded. */
import type { UsageLog } from './usage.ts';

export interface Trace {
  /** 32 hexadecimal digits, for the log. */
  readonly id: string;
  /** Header lines of whatever is asked on its behalf, each with its end. */
  readonly lines: string;
  /** A call to an engine begins; undefined where nothing is recorded. */
  startCall(call: TracedCall): CallSpan | undefined;
  /** The request is over; with a word where it did not come to its end. */
  end(status: number, cut: string | undefined): void;
}

export interface TracedCall {
  readonly method: string;
  readonly path: string;
  /** Base address of the replica. */
  readonly replica: string;
  /** Replicas that were tried before. */
  readonly retries: number;
}

export interface CallSpan {
  /** Header lines of this call. */
  readonly lines: string;
  /** The engine has begun to answer. */
  answered(): void;
  /** Undefined: as it should. */
  end(failure: { readonly kind: string } | undefined): void;
}

/** A request as tracing sees it; headers are empty strings where they are missing. */
export interface TracedRequest {
  readonly id: string;
  readonly method: string;
  /** As declared; undefined where no route fits. */
  readonly route: string | undefined;
  readonly traceparent: string;
  readonly tracestate: string;
}

export interface Tracing {
  begin(request: TracedRequest): Trace;
  /** The usage log; every event is also added to the trace of its request. */
  watching(usage: UsageLog): UsageLog;
  stats(): SpanStats;
  close(): Promise<void>;
}

export interface SpanStats {
  readonly exported: number;
  /** The collector refused them, could not be reached, or was behind. */
  readonly dropped: number;
  readonly queued: number;
}
