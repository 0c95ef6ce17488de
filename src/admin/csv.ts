/** `/usage` and `/usage/events` as CSV: all pages of them, read as the client takes them. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { billedColumns } from '../../schemas/usage.ts';
import { csvCell } from '../helpers/csv-cell.ts';
import { atMost } from './at-most.ts';
import type { AdminApi, AdminReply, AdminRequest } from './route.ts';

/** Each holds one of the port's connections. */
const mostExports = 4;
export const mostRows = 1_000_000;
const pageSize = 1000;
/** A client that reads nothing for so long has left. */
const stalledMs = 60_000;

type Row = Readonly<Record<string, unknown>>;

interface Page {
  readonly group_by?: readonly string[];
  readonly data: readonly Row[];
  readonly links: { readonly next: string | null };
}

const paths = ['/usage', '/usage/events'];

export const wantsCsv = ({ path, query }: AdminRequest, accept = ''): boolean => {
  if (!paths.includes(path)) return false;
  const format = new URLSearchParams(query).get('format');
  return format === 'csv' || (format === null && /\btext\/csv\b/i.test(accept));
};

export class CsvExports {
  readonly #api: AdminApi;
  readonly #most: number;
  readonly #limited = atMost(mostExports, `At most ${mostExports} exports run at once`);

  constructor(api: AdminApi, most = mostRows) {
    this.#api = api;
    this.#most = most;
  }

  async send(request: AdminRequest, response: ServerResponse): Promise<void> {
    await this.#limited(() => this.#send(request, response));
  }

  async #send(request: AdminRequest, response: ServerResponse): Promise<void> {
    const query = new URLSearchParams(request.query);
    query.set('limit', String(pageSize));
    let reply = await this.#api({ ...request, query: query.toString() });
    if (reply.status !== 200) {
      response.writeHead(reply.status, reply.headers).end(reply.body);
      return;
    }
    let page = pageOf(reply);
    const columns = columnsOf(page);
    response.writeHead(200, headersOf(reply));
    response.write(lineOf(columns));
    for (let rows = page.data.length; ; rows += page.data.length) {
      await write(response, page.data.map((row) => lineOf(cells(row, columns))).join(''));
      const { next } = page.links;
      if (response.destroyed) return;
      if (next === null) break;
      reply = await this.#api({ ...request, query: next.slice(next.indexOf('?') + 1) });
      // Cut off, so that it does not look complete.
      if (rows >= this.#most || reply.status !== 200) return void response.destroy();
      page = pageOf(reply);
    }
    response.end();
  }
}

const pageOf = ({ body }: AdminReply): Page => JSON.parse(body) as Page;

const headersOf = ({ headers }: AdminReply) => ({
  ...headers,
  'content-type': 'text/csv; charset=utf-8',
  'content-disposition': `attachment; filename="usage-${new Date().toISOString().slice(0, 10)}.csv"`,
});

const ofRequest = 'created id request_id subscription key route model requested_model outcome status'.split(
  ' ',
);
const ofEvent = [
  ...'time id request_id subscription key route model requested_model engine outcome status'.split(' '),
  ...billedColumns,
  ...'generated_tokens delivered_tokens queued_ms first_token_ms total_ms'.split(' '),
];

/** Events have no groups. */
const columnsOf = ({ group_by }: Page): readonly string[] => {
  if (group_by === undefined) return ofEvent;
  return [...(group_by[0] === 'request' ? ofRequest : [...group_by, 'requests', 'failed']), ...billedColumns];
};

const cells = (row: Row, columns: readonly string[]): readonly string[] => {
  const flat: Row = { ...row, ...(row.quantities as Row | undefined) };
  return columns.map((column) => safe(flat[column] ?? ''));
};

/** A spreadsheet would take it for a formula. */
const safe = (value: unknown): string =>
  typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);

const lineOf = (values: readonly string[]): string => `${values.map(csvCell).join(',')}\r\n`;

const write = async (response: ServerResponse, text: string): Promise<void> => {
  if (text === '' || response.destroyed || response.write(text)) return;
  const timer = new AbortController();
  const { signal } = timer;
  const stalled = delay(stalledMs, undefined, { ref: false, signal }).then(() => response.destroy());
  const ready = [once(response, 'drain', { signal }), once(response, 'close', { signal }), stalled];
  for (const each of ready) each.catch(() => undefined);
  await Promise.race(ready);
  timer.abort();
};
