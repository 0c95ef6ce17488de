/** An HTTP proxy before ClickHouse that records statements and fails as told. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Statement {
  readonly text: string;
  /** Of the query string, without the text and its parameters. */
  readonly settings: Readonly<Record<string, string>>;
}

/** `cut`: the server gets the request, the client no response. */
export type Mode = 'pass' | 'refuse' | 'hang' | 'cut';

export interface ProxyServer {
  readonly url: string;
  readonly statements: Statement[];
  mode: Mode;
  stop(): Promise<void>;
}

/** What a server says to a statement: a status and a text. */
export type Answer = (statement: Statement, path: string, body: Buffer) => Promise<readonly [number, string]>;

/** To a real one. */
export const forwardedTo =
  (target: string): Answer =>
  async (_statement, path, body) => {
    const response = await fetch(target + path, { method: 'POST', ...(body.length > 0 && { body }) });
    const code = response.headers.get('x-clickhouse-exception-code');
    return [code === null ? response.status : 500, await response.text()];
  };

export const startProxy = async (answer: Answer): Promise<ProxyServer> => {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://x');
    const body = Buffer.concat(pieces);
    const { query, ...settings } = Object.fromEntries(searchParams);
    const named = Object.entries(settings).filter(([name]) => !name.startsWith('param_'));
    const statement = { text: query ?? body.toString(), settings: Object.fromEntries(named) };
    proxy.statements.push(statement);
    if (proxy.mode === 'hang') return;
    const [status, text] =
      proxy.mode === 'refuse' ? [0, ''] : await answer(statement, pathname + search, body);
    if (proxy.mode === 'pass') response.writeHead(status, { 'x-clickhouse-format': 'JSON' }).end(text);
    else request.socket.destroy();
  };
  const server = createServer((request, response) => void handle(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: ProxyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statements: [],
    mode: 'pass',
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
};
