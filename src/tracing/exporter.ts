/** Sends finished spans to a collector in batches, in the background. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { exponentialBackoff } from '../helpers/backoff.ts';
import type { SpanStats } from '../ports/trace.ts';
import { exportRequest, type Resource } from './otlp-json.ts';
import type { Span } from './span.ts';

export interface Collector {
  /** Its address, with the path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Resource;
}

export interface ExportOptions {
  readonly version: string;
  readonly log: Logger;
  /** Longest time a span waits for its batch. */
  readonly everyMs?: number;
  /** First backoff before a batch is retried; it doubles each time. */
  readonly backoffMs?: number;
}

const maxQueued = 4096;
/** Small enough that serializing it does not block the event loop. */
const batchSize = 128;
const maxTries = 4;
const maxBackoffMs = 30_000;
/** The end of the process waits no longer for the last batches. */
const closeTimeoutMs = 2_000;
const retriable = new Set([429, 502, 503, 504]);

export class Exporter {
  readonly #options: Collector & ExportOptions;
  readonly #queue: Span[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #exported = 0;
  #dropped = 0;
  #warned = false;

  constructor(options: Collector & ExportOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), options.everyMs ?? 2_000).unref();
  }

  add(span: Span): void {
    if (this.#queue.length >= maxQueued) this.#dropped++;
    else if (this.#queue.push(span) % batchSize === 0) setImmediate(() => this.#send());
  }

  stats(): SpanStats {
    return { exported: this.#exported, dropped: this.#dropped, queued: this.#queue.length };
  }

  /** Sends what is left once; drops it where that fails. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#closing.abort(), closeTimeoutMs);
    this.#send();
    await this.#sending;
    clearTimeout(late);
    this.#closing.abort();
  }

  #send(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, batchSize);
      const rejected = await this.#deliver(batch);
      this.#dropped += rejected;
      this.#exported += batch.length - rejected;
    }
  }

  /** Returns how many were dropped. */
  async #deliver(batch: readonly Span[]): Promise<number> {
    const { resource, version, backoffMs = 1_000 } = this.#options;
    const body = exportRequest(batch, resource, version);
    for (let tries = 1; ; tries++) {
      const result = await this.#post(body);
      if (typeof result === 'number') {
        this.#warned = false;
        return Math.min(result, batch.length);
      }
      if (!result.retry || tries === maxTries || this.#closing.signal.aborted) {
        this.#warn(result.why);
        return batch.length;
      }
      const wanted = result.afterMs ?? exponentialBackoff({ first: backoffMs })(tries);
      const backoff = Math.min(wanted, maxBackoffMs);
      await delay(backoff, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /** How many it rejected, or why it took none. */
  async #post(body: string): Promise<number | Refusal> {
    const { url, headers, timeoutMs } = this.#options;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      });
      const text = await response.text();
      if (response.ok) return rejectedIn(text);
      const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
      return {
        why: `it answered ${response.status}`,
        retry: retriable.has(response.status),
        afterMs: seconds >= 0 ? seconds * 1000 : undefined,
      };
    } catch (error) {
      return { why: reasonOf(error), retry: true, afterMs: undefined };
    }
  }

  /** Once, until a batch succeeds again. */
  #warn(why: string): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.log.warn({ collector: this.#options.url, why }, 'spans cannot be sent to the collector');
  }
}

interface Refusal {
  readonly why: string;
  readonly retry: boolean;
  readonly afterMs: number | undefined;
}

/** A collector may accept a part of a batch. */
const rejectedIn = (text: string): number => {
  try {
    const response = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } } | null;
    const rejected = Number(response?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    // Not JSON, from a proxy, say: the batch was accepted all the same.
    return 0;
  }
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
};
