/** Calls to Qdrant with a timeout and retries, whose failures are those of the port. */
import { setTimeout as delay } from 'node:timers/promises';
import { QdrantClient } from '@qdrant/js-client-rest';
import { ApiError, fail } from '../../errors.ts';
import { exponentialBackoff } from '../../helpers/backoff.ts';
import type { ReadConsistency } from './qdrant-settings.ts';

/** Further tries of a call that did not get through; all our calls may be made twice. */
const retries = 2;
const backoff = exponentialBackoff({ first: 50, factor: 4 });
const defaultPort = 6333;

interface ConnectionOptions {
  readonly key: string | undefined;
  /** Milliseconds that one request may take. */
  readonly patience: number;
  readonly readConsistency: ReadConsistency | undefined;
}

export class QdrantConnection {
  /** Part of every read. */
  readonly reading: { readonly consistency?: ReadConsistency };
  readonly #client: QdrantClient;
  readonly #host: string;
  #open = true;

  constructor(address: string, { key, patience, readConsistency }: ConnectionOptions) {
    this.reading = readConsistency === undefined ? {} : { consistency: readConsistency };
    const url = new URL(address);
    // The standard drops a port that is the scheme's own; none at all means Qdrant's.
    const port = /^\w+:\/\/[^/]*:(\d+)(?:\/|$)/.exec(address)?.[1] ?? defaultPort;
    this.#host = `${url.hostname}:${port}`;
    this.#client = new QdrantClient({
      host: url.hostname,
      port: Number(port),
      https: url.protocol === 'https:',
      prefix: url.pathname.replace(/\/+$/, ''),
      // Not as `apiKey`: the library would write to the console.
      ...(key !== undefined && { headers: { 'api-key': key } }),
      timeout: patience,
      checkCompatibility: false,
    });
  }

  async call<T>(work: (client: QdrantClient) => Promise<T>): Promise<T> {
    try {
      return await this.#attempt(work);
    } catch (error) {
      throw statusOf(error) === 400
        ? fail('internal', 'The vector store does not take this', { cause: error })
        : fail('unavailable', 'The vector store is unavailable', { cause: error });
    }
  }

  /** One sentence for the operator when `work` cannot be done. */
  async check(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const cause = error instanceof ApiError ? error.cause : error;
      throw new Error(`Qdrant at ${this.#host} cannot be used: ${reasonOf(cause)}.`, { cause });
    }
  }

  close(): void {
    this.#open = false;
  }

  async #attempt<T>(work: (client: QdrantClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      if (!this.#open) throw new Error('the connection is closed');
      try {
        return await work(this.#client);
      } catch (error) {
        if (attempt > retries || !isPassing(error)) throw error;
        await delay(backoff(attempt) * (0.5 + Math.random()));
      }
    }
  }
}

/** What the server said; undefined when it did not answer. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;

/** A connection that broke or was refused, a server that is busy or starts. Time that ran out is not waited for again. */
const isPassing = (error: unknown): boolean => {
  const status = statusOf(error);
  if (status !== undefined) return status === 429 || (status >= 502 && status <= 504);
  return error instanceof TypeError;
};

/** What the server says of a failure lies in the answer; what a connection died of, in the cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const inner = error.cause instanceof AggregateError ? error.cause.errors[0] : (error.cause ?? error);
  const status = statusOf(error);
  const words =
    status === undefined ? (inner instanceof Error ? inner.message : String(inner)) : error.message;
  const reason = (words.split('\n', 1)[0] ?? '').slice(0, 300).replace(/[.\s]+$/, '');
  return status === undefined ? reason : `it answers ${status} ${reason}`.trimEnd();
};
