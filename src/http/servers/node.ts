/** The HTTP edge on node:http. */
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, type Socket, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorJson, fail } from '../../errors.ts';
import { refusal, type TlsPair } from '../../helpers/address.ts';
import type { Server, ServerOptions } from './channel.ts';
import { corsHeaders } from './common-headers.ts';
import { tooLargeHead } from './framing.ts';
import { NodeChannel } from './node-channel.ts';

export const startNode = async (options: ServerOptions, tls: TlsPair | undefined): Promise<Server> => {
  const { host, port, limits, handle } = options;
  const connections = new WeakMap<Duplex, Set<NodeChannel>>();
  /** The requests of a connection: several where a client pipelines. */
  const running = (socket: Duplex): Set<NodeChannel> => {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const channels = new Set<NodeChannel>();
    connections.set(socket, channels);
    // A pipelined response that waits behind another gets no close event of its own.
    socket.once('close', () => {
      for (const channel of channels) channel.disconnected();
    });
    return channels;
  };
  /** Connections on which no further request is read. */
  const refused = new WeakSet<Duplex>();
  const listener: RequestListener = (request, response) => {
    const { socket } = request;
    if (refused.has(socket)) return;
    const channel = new NodeChannel(request, response, limits);
    if (channel.malformed !== undefined) refused.add(socket);
    const channels = running(socket).add(channel);
    response.once('close', () => channels.delete(channel));
    handle(channel);
  };
  const settings = {
    highWaterMark: limits.maxBufferedBytes,
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headerMs,
    keepAliveTimeout: limits.idleConnectionMs,
    connectionsCheckingInterval: limits.tickMs,
    // Bodies have time-outs of our own, which do not count while we pause them.
    requestTimeout: 0,
    // Refused by ourselves, in our own format.
    requireHostHeader: false,
  };
  const server =
    tls === undefined ? createServer(settings, listener) : createTlsServer({ ...settings, ...tls }, listener);
  // All of them are looked at; their bytes are limited.
  server.maxHeadersCount = 0;
  let sockets = 0;
  server.on('connection', (socket: Socket) => {
    sockets++;
    socket.once('close', () => sockets--);
  });
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const end = () => {
      const midway = [...(connections.get(socket) ?? [])].some((channel) => channel.started);
      if (midway || !socket.writable || (socket as Socket).bytesRead === 0) socket.destroy();
      else socket.end(refuse(malformed(error.code ?? '', limits.maxHeaderBytes), options.nextId()));
    };
    // Requests before the one that cannot be read get their responses first.
    const before = [...(connections.get(socket) ?? [])].filter((channel) => channel.arrived);
    if (before.length === 0 || socket.destroyed) end();
    else before.at(-1)?.onClose(end);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(refusal(options, error)));
    server.listen({ host, port }, resolve);
  });
  return {
    name: 'node',
    port: (server.address() as AddressInfo).port,
    connections: () => sockets,
    // The HTTP server's own close would close kept-alive connections too, even with a request on its way on them.
    stopListening: () => {
      TcpServer.prototype.close.call(server);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const malformed = (code: string, maxHeaderBytes: number): string => {
  if (code === 'HPE_HEADER_OVERFLOW') return tooLargeHead(maxHeaderBytes);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request headers did not arrive in time';
  return 'The request is not valid HTTP';
};

/** For requests that cannot be parsed: they have no response object. */
const refuse = (message: string, requestId: string): string => {
  const error = fail('invalid_request', message);
  const body = errorJson(error, 'envelope', requestId);
  const headers = [
    ...corsHeaders,
    ...Object.entries(error.headers),
    ['x-request-id', requestId],
    ['request-id', requestId],
    ['content-type', 'application/json'],
    ['content-length', String(Buffer.byteLength(body))],
    ['connection', 'close'],
  ];
  return `HTTP/1.1 400 Bad Request\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
};
