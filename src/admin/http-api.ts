/** The admin API on a socket: reads a request whole, and writes its reply. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { asApiError, fail } from '../errors.ts';
import { errorReply } from './api.ts';
import { CsvExports, wantsCsv } from './csv.ts';
import { isFollowing, LogFollowers } from './follow-logs.ts';
import { isLive, LiveListeners } from './live.ts';
import type { AdminApi, AdminReply, AdminRequest } from './route.ts';

export const apiPrefix = '/admin/v1/';
const mostBytes = 64 * 1024;

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export const serveApi = (api: AdminApi): Serve => {
  const followers = new LogFollowers(api);
  const listeners = new LiveListeners(api);
  const exports = new CsvExports(api);
  return async (incoming, response) => {
    const id = `adm_${randomBytes(12).toString('hex')}`;
    try {
      const request = await readRequest(incoming, id);
      if (incoming.method !== 'GET') writeReply(response, await api(request), incoming.method ?? '');
      else if (isFollowing(request)) await followers.follow(request, response);
      else if (isLive(request)) await listeners.listen(request, response);
      else if (wantsCsv(request, incoming.headers.accept)) await exports.send(request, response);
      else writeReply(response, await api(request), request.method);
    } catch (thrown) {
      if (response.headersSent) throw thrown;
      // What is left of the body is not read.
      response.setHeader('connection', 'close');
      writeReply(response, errorReply(asApiError(thrown), id), incoming.method ?? '');
    }
  };
};

const readRequest = async (incoming: IncomingMessage, id: string): Promise<AdminRequest> => {
  const { method = '', url = '', headers } = incoming;
  const [path = '', query = ''] = split(url.slice(apiPrefix.length - 1));
  return {
    id,
    method: method === 'HEAD' ? 'GET' : method,
    path,
    query,
    authorization: headers.authorization ?? '',
    ifMatch: headers['if-match'] ?? '',
    body: await readBody(incoming),
  };
};

const split = (url: string): readonly string[] => {
  const at = url.indexOf('?');
  return at === -1 ? [url] : [url.slice(0, at), url.slice(at + 1)];
};

const readBody = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > mostBytes)
      throw fail('payload_too_large', `The request body must have at most ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

export const writeReply = (response: ServerResponse, reply: AdminReply, method: string): void => {
  const { status, headers, body } = reply;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(method === 'HEAD' ? undefined : body);
};
