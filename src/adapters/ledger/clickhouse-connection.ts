/** Calls to ClickHouse that time out, go to another server of the cluster, and fail as the port says. */
import { Readable } from 'node:stream';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  createClient,
  type ClickHouseSettings as QuerySettings,
} from '@clickhouse/client';
import { ApiError, fail } from '../../errors.ts';
import { Servers } from './clickhouse-servers.ts';
import { databaseOf, hostsOf } from './clickhouse-settings.ts';

export type Parameters = Readonly<Record<string, string | number | readonly string[]>>;

export interface ClickHouseOptions {
  /** Milliseconds that a call to one server may take. */
  readonly patience?: number;
  /** Of every call. */
  readonly settings?: QuerySettings;
}

/** Codes of the server that are about the rows themselves: sending them again would not help. */
const badRows = new Set('6 26 27 38 41 53 69 72 117 130 131 321 349 407'.split(' '));
const unknownDatabase = '81';
/**
 * Codes of a server that is busy, stops, cannot reach the others, or cannot reach Keeper: another one may do better.
 * Anything but an error of ClickHouse, such as a refused connection, is in the same case.
 */
const elsewhere = new Set('202 203 209 210 225 236 242 279 369 999'.split(' '));
const isElsewhere = (error: unknown): boolean =>
  !(error instanceof ClickHouseError) || elsewhere.has(error.code);

export class ClickHouse {
  readonly database: string;
  readonly #servers: Servers<ClickHouseClient>;
  readonly #urls: readonly string[];
  readonly #options: ClickHouseOptions;
  #open = true;

  /** Several servers are those of one cluster. */
  constructor(urls: readonly string[], options: ClickHouseOptions = {}) {
    this.database = databaseOf(urls[0] ?? '');
    this.#urls = urls;
    this.#options = options;
    this.#servers = new Servers(urls.map((url) => this.#connect(new URL(url))));
  }

  /** Rows as tuples in the order of the selected columns. */
  async query<R extends readonly unknown[]>(sql: string, values: Parameters = {}): Promise<R[]> {
    return this.#respond(async (client) => {
      const result = await client.query({
        query: sql,
        query_params: { ...values },
        format: 'JSONCompactEachRow',
      });
      return await result.json<R>();
    });
  }

  /** A statement that may run twice: on another server too, when the first one does not say what became of it. */
  command(sql: string): Promise<void> {
    return this.#respond(async (client) => {
      await client.command({ query: sql });
    });
  }

  /** A statement that must not: it is sent to one server, and its failure leaves open whether it ran. */
  commandOnce(sql: string): Promise<void> {
    return this.#respond(
      async (client) => {
        await client.command({ query: sql });
      },
      { tries: 1 },
    );
  }

  /**
   * Rows are lines of tab-separated values. With a token, a repeated insert of the same rows changes nothing, whichever
   * server gets it.
   */
  insert(
    table: string,
    columns: readonly [string, ...string[]],
    rows: readonly Buffer[],
    token?: string,
  ): Promise<void> {
    return this.#respond(async (client) => {
      await client.insert({
        table,
        columns: [...columns],
        values: Readable.from(rows, { objectMode: false }),
        format: 'TabSeparated',
        // Also when nobody waits for it any more: seals rely on an end.
        clickhouse_settings: {
          max_execution_time: 300,
          ...(token !== undefined && { insert_deduplication_token: token }),
        },
      });
    });
  }

  async hasDatabase(): Promise<boolean> {
    try {
      await this.command('SELECT 1');
      return true;
    } catch (error) {
      const cause = rootOf(error);
      if (cause instanceof ClickHouseError && cause.code === unknownDatabase) return false;
      throw error;
    }
  }

  /** Where it does not exist; by connections that do not name it. */
  async createDatabase(onCluster: string): Promise<void> {
    const servers = new Servers(
      this.#urls.map((url) => {
        const server = new URL(url);
        server.pathname = '';
        return this.#connect(server);
      }),
    );
    const query = `CREATE DATABASE IF NOT EXISTS ${identifier(this.database)}${onCluster}`;
    try {
      await this.#respond((client) => client.command({ query }), { servers });
    } finally {
      for (const client of servers.clients) await client.close();
    }
  }

  /** One sentence for the operator when `work` cannot be done. */
  async check(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      await this.command('SELECT 1');
    } catch (error) {
      const cause = rootOf(error);
      throw new Error(`ClickHouse at ${hostsOf(this.#urls)} cannot be used: ${reasonOf(cause)}.`, { cause });
    }
  }

  async close(): Promise<void> {
    this.#open = false;
    for (const client of this.#servers.clients) await client.close();
  }

  #connect(url: URL): ClickHouseClient {
    return createClient({
      url,
      application: 'sluice',
      request_timeout: this.#options.patience ?? 30_000,
      clickhouse_settings: this.#options.settings ?? {},
      max_open_connections: 8,
      // Failures are returned as errors.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  async #respond<T>(
    work: (client: ClickHouseClient) => Promise<T>,
    { servers = this.#servers, tries }: { servers?: Servers<ClickHouseClient>; tries?: number } = {},
  ): Promise<T> {
    try {
      // The library would reconnect.
      if (!this.#open) throw new Error('the connection is closed');
      return await servers.run(work, isElsewhere, tries);
    } catch (error) {
      if (error instanceof ClickHouseError && badRows.has(error.code)) throw error;
      throw fail('unavailable', 'The usage ledger is unavailable', { cause: error });
    }
  }
}

export const identifier = (name: string): string => `\`${name.replaceAll('`', '')}\``;

const rootOf = (error: unknown): unknown =>
  error instanceof ApiError && error.cause !== undefined ? rootOf(error.cause) : error;

/** A refused connection to a name with several addresses has its reason inside. */
const reasonOf = (error: unknown): string => {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const message = inner instanceof Error ? inner.message : String(inner);
  return (message.split('\n', 1)[0] ?? '').slice(0, 300).replace(/[.\s]+$/, '');
};
