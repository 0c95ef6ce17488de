/** A small HTTP server that a test scripts down to single bytes on the socket. */
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** One received request, with methods to write its response. */
export class ReceivedRequest {
  readonly head: string;
  readonly body: string;
  /** Counted from 0 over all connections. */
  readonly number: number;
  readonly socket: Socket;
  /** Resolves when either side closes the connection. */
  readonly gone: Promise<void>;

  constructor(socket: Socket, number: number, head: string, body: string) {
    this.socket = socket;
    this.number = number;
    this.head = head;
    this.body = body;
    this.gone = new Promise((resolve) =>
      socket.destroyed ? resolve() : socket.once('close', () => resolve()),
    );
  }

  raw(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  json(status: number, value: unknown, headers = ''): void {
    const body = typeof value === 'string' ? value : JSON.stringify(value);
    this.raw(
      `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }

  streamHead(): void {
    this.raw('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
  }

  /** One HTTP chunk. */
  chunk(bytes: string | Buffer): void {
    this.raw(
      Buffer.concat([
        Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`),
        Buffer.from(bytes),
        Buffer.from('\r\n'),
      ]),
    );
  }

  end(): void {
    this.raw('0\r\n\r\n');
  }

  /** A short good stream. */
  answer(words = 'Hello'): void {
    this.streamHead();
    this.chunk(token(words));
    this.chunk(`${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`);
    this.end();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}

export const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
export const token = (words: string, index = 0): string =>
  event({ id: 'c', choices: [{ index, delta: { content: words }, finish_reason: null }] });

export type Script = (request: ReceivedRequest) => void | Promise<void>;

export interface ScriptedEngine {
  /** Base address, ending in `/v1`. */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  readonly connections: number;
  script: Script;
  /** Resolves with the request of that number once it arrives. */
  request(number: number): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

export const startScriptedEngine = async (
  script: Script,
  tls?: { readonly key: Buffer; readonly cert: Buffer },
): Promise<ScriptedEngine> => {
  const requests: ReceivedRequest[] = [];
  const news = new EventEmitter();
  const sockets = new Set<Socket>();
  let connections = 0;
  const engine = {
    url: '',
    requests,
    get connections() {
      return connections;
    },
    script,
    request: async (number: number): Promise<ReceivedRequest> => {
      for (;;) {
        const request = requests[number];
        if (request !== undefined) return request;
        await once(news, 'request');
      }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  const onSocket = (socket: Socket): void => {
    connections++;
    sockets.add(socket);
    socket.setMaxListeners(0);
    let received = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      const bodyStart = received.indexOf('\r\n\r\n') + 4;
      if (bodyStart < 4) return;
      const head = received.toString('latin1', 0, bodyStart);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < bodyStart + length) return;
      const request = new ReceivedRequest(
        socket,
        requests.length,
        head,
        received.toString('utf8', bodyStart, bodyStart + length),
      );
      received = received.subarray(bodyStart + length);
      requests.push(request);
      news.emit('request');
      void engine.script(request);
    });
  };
  const server: Server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  engine.url = `http${tls === undefined ? '' : 's'}://127.0.0.1:${port}/v1`;
  return engine;
};
