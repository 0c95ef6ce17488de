/** Finished spans in; batches of them at a collector out, later and never at the cost of a request. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { exponentialBackoff } from '../backoff.ts';
import type { SpanStats } from '../ports/trace.ts';
import { exportRequest, type Resource } from './otlp-json.ts';
import type { Span } from './span.ts';

export interface ExporterOptions {
  /** Whole address, path and all. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Resource;
  readonly version: string;
  readonly log: Logger;
  /** Milliseconds that a span waits for others at most. */
  readonly everyMs?: number;
  /** Milliseconds before a batch is tried again; twice as long each time. */
  readonly pauseMs?: number;
}

const mostQueued = 4096;
/** Few enough that making their text does not hold up the event loop. */
const batchSize = 128;
const mostTries = 4;
const longestPause = 30_000;
/** At the end of the process nobody waits longer. */
const lastPatience = 2_000;
const again = new Set([429, 502, 503, 504]);

export class Exporter {
  readonly #options: ExporterOptions;
  readonly #queue: Span[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #exported = 0;
  #dropped = 0;
  #complained = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#send(), options.everyMs ?? 2_000).unref();
  }

  add(span: Span): void {
    if (this.#queue.length >= mostQueued) this.#dropped++;
    else if (this.#queue.push(span) % batchSize === 0) setImmediate(() => this.#send());
  }

  stats(): SpanStats {
    return { exported: this.#exported, dropped: this.#dropped, queued: this.#queue.length };
  }

  /** What is left is sent once more, and lost where that fails. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#closing.abort(), lastPatience);
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

  /** How many were lost. */
  async #deliver(batch: readonly Span[]): Promise<number> {
    const { resource, version, pauseMs = 1_000 } = this.#options;
    const body = exportRequest(batch, resource, version);
    for (let tries = 1; ; tries++) {
      const answer = await this.#post(body);
      if (typeof answer === 'number') {
        this.#complained = false;
        return Math.min(answer, batch.length);
      }
      if (!answer.again || tries === mostTries || this.#closing.signal.aborted) {
        this.#complain(answer.why);
        return batch.length;
      }
      const pause = Math.min(answer.afterMs ?? exponentialBackoff({ first: pauseMs })(tries), longestPause);
      await delay(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /** How many it rejected; or why it took none. */
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
        again: again.has(response.status),
        afterMs: seconds >= 0 ? seconds * 1000 : undefined,
      };
    } catch (error) {
      return { why: reasonOf(error), again: true, afterMs: undefined };
    }
  }

  /** Once, until it goes well again. */
  #complain(why: string): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#options.log.warn({ collector: this.#options.url, why }, 'spans cannot be sent to the collector');
  }
}

interface Refusal {
  readonly why: string;
  readonly again: boolean;
  readonly afterMs: number | undefined;
}

/** A collector may take a part of what it was sent. */
const rejectedIn = (text: string): number => {
  try {
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } } | null;
    const rejected = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
    return Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  } catch {
    // Not JSON, as of a proxy: it was taken all the same.
    return 0;
  }
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
};
