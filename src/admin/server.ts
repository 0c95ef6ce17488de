/** The admin port: metrics, liveness, readiness and the admin API, for operators only. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ConsolePages } from '../console/console-pages.ts';
import type { PageResponse } from '../console/page.ts';
import { linkTo } from '../helpers/address.ts';
import { contentType } from '../metrics/exposition.ts';
import { apiPrefix, serveApi } from './http-api.ts';
import type { AdminApi } from './route.ts';

interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: () => string | Promise<string>;
  /** Why it should get no traffic, a sentence each; empty: it should. */
  readonly unready: () => Promise<readonly string[]>;
  /** Absent: this process has none. */
  readonly api?: AdminApi;
  /** Absent: switched off. */
  readonly pages?: ConsolePages | undefined;
}

export interface AdminServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Rejects with one clear sentence when it cannot listen. */
export const startAdmin = async ({
  host,
  port,
  metrics,
  unready,
  api,
  pages,
}: AdminOptions): Promise<AdminServer> => {
  const handlers: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    '/metrics': async (response) => {
      const text = await metrics();
      response.writeHead(200, { 'content-type': contentType }).end(text);
    },
    '/livez': async (response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n');
    },
    '/readyz': async (response) => {
      const reasons = await unready();
      response
        .writeHead(reasons.length === 0 ? 200 : 503, { 'content-type': 'text/plain' })
        .end(reasons.length === 0 ? 'ok\n' : `${reasons.join('\n')}\n`);
    },
  };
  const unknown = (response: ServerResponse): void => {
    const known = Object.keys(handlers).join(', ');
    response.writeHead(404, { 'content-type': 'text/plain' }).end(`Here are ${known}, to GET.\n`);
  };
  const servePage = async (
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const page = await pages?.(path, request.headers);
    if (page === undefined) unknown(response);
    else
      response
        .writeHead(page.status, { ...page.headers, ...lengthOf(page) })
        .end(request.method === 'HEAD' ? undefined : page.body);
  };
  const serve = api && serveApi(api);
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const handler = handlers[path];
    const failed = (error: unknown): void => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`);
    };
    if (serve !== undefined && path.startsWith(apiPrefix)) serve(request, response).catch(failed);
    else if (request.method !== 'GET' && request.method !== 'HEAD') unknown(response);
    else if (handler !== undefined) handler(response).catch(failed);
    else servePage(path, request, response).catch(failed);
  });
  server.maxConnections = 64;
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentence = `The port for metrics, ${host}:${port}, cannot be used (${error.code}); SLUICE_ADMIN_PORT sets another, or off`;
      reject(new Error(sentence, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: linkTo('http', { host, port: address.port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** A 304 has none: it would be that of the page. */
const lengthOf = ({ status, body }: PageResponse): Readonly<Record<string, string>> =>
  status === 304 ? {} : { 'content-length': String(body.length) };
