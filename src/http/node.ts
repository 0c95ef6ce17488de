/** Requests of node:http in, channels out: the only file that knows this server. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Answer, Head, HeaderList, HeaderName } from '../ports/exchange.ts';
import type { Channel, ChannelOwner, Frame, Server, ServerOptions } from './channel.ts';
import { corsHeaders, reasonPhrase } from './common-headers.ts';
import type { EdgeLimits } from './limits.ts';

export const startNode = async (options: ServerOptions): Promise<Server> => {
  const { host, port, tls, limits, handle } = options;
  const listener: RequestListener = (request, response) => handle(new NodeChannel(request, response, limits));
  const settings = {
    highWaterMark: limits.maxBufferedBytes,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headerMs,
    keepAliveTimeout: limits.idleConnectionMs,
    connectionsCheckingInterval: limits.tickMs,
    // Bodies have time-outs of our own, which know when it is we who pause.
    requestTimeout: 0,
  };
  const server =
    tls === undefined
      ? createServer(settings, listener)
      : createTlsServer(
          { ...settings, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) },
          listener,
        );
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  return {
    name: 'node',
    port: (server.address() as AddressInfo).port,
    stopListening: () => {
      server.close();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

class NodeChannel implements Channel {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly lendsBody = false;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: EdgeLimits;
  #owner: ChannelOwner | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, limits: EdgeLimits) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.method = request.method ?? '';
    const url = request.url ?? '';
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
    response.on('drain', () => this.#owner?.writable());
    response.on('finish', () => this.#owner?.sent());
    response.on('close', () => {
      if (!response.writableFinished) this.#owner?.gone();
    });
  }

  get owner(): ChannelOwner | undefined {
    return this.#owner;
  }

  set owner(owner: ChannelOwner | undefined) {
    this.#owner = owner;
    const request = this.#request;
    if (this.header('content-length') === '' && this.header('transfer-encoding') === '') return;
    request.on('data', (chunk: Buffer) => this.#owner?.data(chunk, false));
    request.on('end', () => this.#owner?.data(nothing, true));
    // A body that breaks off is reported by the response's own close.
    request.on('error', () => {});
  }

  header(name: HeaderName): string {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  }

  pauseBody(): void {
    this.#request.pause();
  }

  resumeBody(): void {
    this.#request.resume();
  }

  excuse(): void {}

  answer(answer: Answer, frame: Frame): void {
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
    const headers = headerList(answer.headers, frame);
    if (answer.status !== 204) headers.push('content-length', String(body.byteLength));
    this.#response.writeHead(answer.status, reasonPhrase(answer.status), headers);
    if (frame.unread) this.#linger(frame.bodiless ? nothing : body);
    else if (frame.bodiless) this.#response.end();
    else this.#response.end(body);
  }

  /** Ending a connection with unread data resets it, and the answer may be lost: the client is left time to read it. */
  #linger(body: Uint8Array): void {
    const owner = this.#owner;
    this.#response.write(body);
    const timer = setTimeout(() => this.#response.end(), this.#limits.lingerMs);
    timer.unref();
    this.#owner = { data: () => {}, writable: () => {}, sent: () => {}, gone: () => clearTimeout(timer) };
    this.#request.resume();
    owner?.sent();
  }

  start(head: Head, frame: Frame, bytes: string | Uint8Array | undefined): boolean {
    this.#response.writeHead(head.status, reasonPhrase(head.status), headerList(head.headers, frame));
    if (bytes !== undefined) return this.#response.write(bytes);
    this.#response.flushHeaders();
    return true;
  }

  write(bytes: string | Uint8Array): boolean {
    return this.#response.write(bytes);
  }

  end(frame: Frame): void {
    if (frame.close) this.#response.shouldKeepAlive = false;
    this.#response.end();
  }

  destroy(): void {
    this.#owner = undefined;
    this.#response.destroy();
  }
}

const nothing = Buffer.alloc(0);

const headerList = (headers: HeaderList, frame: Frame): string[] => {
  const list: string[] = corsHeaders.flat();
  list.push('x-request-id', frame.requestId, 'request-id', frame.requestId);
  for (const name in headers) list.push(name, headers[name] ?? '');
  if (frame.close) list.push('connection', 'close');
  return list;
};
