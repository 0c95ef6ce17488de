/** A ClickHouse connection whose calls time out, and whose failures tell whether to retry. */
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { ApiError, fail } from '../../errors.ts';

export type Parameters = Readonly<Record<string, string | number | readonly string[]>>;

/** Codes of the server that are about the rows themselves: sending them again would not help. */
const badRows = new Set('6 26 27 38 41 53 69 72 117 130 131 321 349 407'.split(' '));
const unknownDatabase = '81';

export class ClickHouse {
  readonly #client: ClickHouseClient;
  readonly #url: URL;
  readonly #patience: number;
  #open = true;

  constructor(url: string, patience = 30_000) {
    this.#url = new URL(url);
    this.#patience = patience;
    this.#client = this.#connect(this.#url);
  }

  /** Rows as tuples in the order of the selected columns. */
  async query<R extends readonly unknown[]>(sql: string, values: Parameters = {}): Promise<R[]> {
    return this.#respond(async () => {
      const result = await this.#client.query({
        query: sql,
        query_params: { ...values },
        format: 'JSONCompactEachRow',
      });
      return await result.json<R>();
    });
  }

  command(sql: string): Promise<void> {
    return this.#respond(async () => {
      await this.#client.command({ query: sql });
    });
  }

  insert(
    table: string,
    columns: readonly [string, ...string[]],
    rows: readonly (readonly unknown[])[],
  ): Promise<void> {
    return this.#respond(async () => {
      await this.#client.insert({
        table,
        columns: [...columns],
        values: rows,
        format: 'JSONCompactEachRow',
        // Also when nobody waits for it any more: seals rely on an end.
        clickhouse_settings: { max_execution_time: 300 },
      });
    });
  }

  /** Makes the database of the address, where that does not exist. */
  async ensureDatabase(): Promise<void> {
    try {
      await this.#client.command({ query: 'SELECT 1' });
    } catch (error) {
      if (!(error instanceof ClickHouseError && error.code === unknownDatabase)) throw this.#failure(error);
      const server = new URL(this.#url);
      const name = decodeURIComponent(server.pathname.slice(1));
      server.pathname = '';
      const client = this.#connect(server);
      try {
        await this.#respond(() =>
          client.command({ query: `CREATE DATABASE IF NOT EXISTS \`${name.replaceAll('`', '')}\`` }),
        );
      } finally {
        await client.close();
      }
    }
  }

  /** One sentence for the operator when `work` cannot be done. */
  async check(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      await this.command('SELECT 1');
    } catch (error) {
      const cause = rootOf(error);
      throw new Error(`ClickHouse at ${this.#url.host} cannot be used: ${reasonOf(cause)}.`, { cause });
    }
  }

  close(): Promise<void> {
    this.#open = false;
    return this.#client.close();
  }

  #connect(url: URL): ClickHouseClient {
    return createClient({
      url,
      application: 'sluice',
      request_timeout: this.#patience,
      max_open_connections: 8,
      // Failures are returned as errors.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  async #respond<T>(work: () => Promise<T>): Promise<T> {
    try {
      // The library would reconnect.
      if (!this.#open) throw new Error('the connection is closed');
      return await work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    if (error instanceof ClickHouseError && badRows.has(error.code)) return error;
    return fail('unavailable', 'The usage ledger is unavailable', { cause: error });
  }
}

const rootOf = (error: unknown): unknown =>
  error instanceof ApiError && error.cause !== undefined ? rootOf(error.cause) : error;

/** A refused connection to a name with several addresses has its reason inside. */
const reasonOf = (error: unknown): string => {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const message = inner instanceof Error ? inner.message : String(inner);
  return (message.split('\n', 1)[0] ?? '').slice(0, 300).replace(/[.\s]+$/, '');
};
