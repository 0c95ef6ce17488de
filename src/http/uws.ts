/** Requests of uWebSockets.js in, channels out: the only file that knows this library. */

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import type { Answer, Head, HeaderList } from '../ports/exchange.ts';
import type { Channel, ChannelOwner, Frame, Server, ServerOptions } from './channel.ts';
import { corsHeaders, statusLine } from './common-headers.ts';
import type { EdgeLimits } from './limits.ts';

type Library = typeof import('uWebSockets.js');

/** Throws when no binary of the library runs on this machine. */
export const loadUws = (limits: EdgeLimits): Library => {
  // Read once by the binary as it loads; this is the only way to tell it.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(limits.maxHeaderBytes);
  return createRequire(import.meta.url)('uWebSockets.js') as Library;
};

export const startUws = async (library: Library, options: ServerOptions): Promise<Server | undefined> => {
  const { tls, limits, handle } = options;
  const app: TemplatedApp =
    tls === undefined
      ? library.App()
      : library.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile });
  app.any('/*', (response, request) => {
    const channel = new UwsChannel(response, request, limits);
    handle(channel);
    channel.leaveHandler();
  });
  const socket = await listening(app, options);
  if (!socket) return undefined;
  let open = true;
  const stopListening = () => {
    if (open) library.us_listen_socket_close(socket);
    open = false;
  };
  return {
    name: 'uws',
    port: library.us_socket_local_port(socket),
    stopListening,
    close: async () => {
      stopListening();
      app.close();
    },
  };
};

const exclusivePort = 1;

const listening = (app: TemplatedApp, { host, port }: ServerOptions): Promise<us_listen_socket | false> =>
  new Promise((resolve) => {
    // Its typings leave out the overload with host, port and options, which it has.
    Reflect.apply(app.listen, app, [host, port, exclusivePort, resolve]);
  });

class UwsChannel implements Channel {
  readonly method: string;
  readonly path: string;
  readonly lendsBody = true;
  owner: ChannelOwner | undefined;
  readonly #response: HttpResponse;
  readonly #limits: EdgeLimits;
  #request: HttpRequest | undefined;
  /** Name, value, name, value … once the library's own request is gone. */
  #headers: string[] | undefined;
  #query: string | undefined;
  #corked = true;
  /** The response object may not be touched any more. */
  #over = false;

  constructor(response: HttpResponse, request: HttpRequest, limits: EdgeLimits) {
    this.#response = response;
    this.#request = request;
    this.#limits = limits;
    this.method = request.getCaseSensitiveMethod();
    this.path = request.getUrl();
  }

  get query(): string {
    return this.#query ?? this.#request?.getQuery() ?? '';
  }

  header(name: string): string {
    if (this.#request !== undefined) return this.#request.getHeader(name);
    const headers = this.#headers;
    if (headers === undefined) return '';
    for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1] ?? '';
    return '';
  }

  /** The request object dies now: what may still be asked of it is copied, and the rest of its life is listened to. */
  leaveHandler(): void {
    const request = this.#request;
    this.#request = undefined;
    this.#corked = false;
    if (this.#over || request === undefined) return;
    const headers: string[] = [];
    request.forEach((name, value) => {
      headers.push(name, value);
    });
    this.#headers = headers;
    this.#query = request.getQuery() ?? '';
    const response = this.#response;
    response.onAborted(() => {
      this.#over = true;
      this.owner?.gone();
    });
    if (this.header('content-length') !== '' || this.header('transfer-encoding') !== '')
      response.onData((chunk, last) => this.#data(chunk, last));
  }

  #data(chunk: ArrayBuffer, last: boolean): void {
    this.#corked = true;
    this.owner?.data(new Uint8Array(chunk), last);
    this.#corked = false;
  }

  pauseBody(): void {
    if (!this.#over) this.#response.pause();
  }

  resumeBody(): void {
    if (!this.#over) this.#response.resume();
  }

  /** The library drops bodies below 16 KB/s after 10 s; pausing and resuming starts its clock anew. */
  excuseBody(): void {
    this.#response.pause();
    this.#response.resume();
  }

  answer(answer: Answer, frame: Frame): void {
    const write = () => (frame.unread ? this.#answerAndLinger(answer, frame) : this.#answer(answer, frame));
    if (this.#corked) write();
    else this.#response.cork(write);
  }

  #answer(answer: Answer, frame: Frame): void {
    const response = this.#response;
    response.writeStatus(statusLine(answer.status));
    writeHeaders(response, answer.headers, frame.requestId);
    if (frame.bodiless) {
      // Given a length, this version of the library waits for a body that never comes; so it is written as a header.
      if (answer.status !== 204) response.writeHeader('content-length', String(byteLength(answer.body)));
      if (frame.close) response.writeHeader('connection', 'close');
      response.endWithoutBody();
    } else response.end(answer.body, frame.close);
    this.#over = true;
    this.owner?.sent();
  }

  /** Ending a connection with unread data resets it, and the answer may be lost: written raw, it leaves the response open. */
  #answerAndLinger(answer: Answer, frame: Frame): void {
    const body = Buffer.from(answer.body);
    const response = this.#response;
    response.writeStatus(statusLine(answer.status));
    writeHeaders(response, answer.headers, frame.requestId);
    response.writeHeader(
      'connection',
      `close\r\ncontent-length: ${body.length}\r\n\r\n${frame.bodiless ? '' : body}`,
    );
    const owner = this.owner;
    const timer = setTimeout(() => this.destroy(), this.#limits.lingerMs);
    timer.unref();
    this.owner = { data: () => {}, writable: () => {}, sent: () => {}, gone: () => clearTimeout(timer) };
    response.resume();
    owner?.sent();
  }

  start(head: Head, frame: Frame, bytes: string | Uint8Array | undefined): boolean {
    let room = true;
    const response = this.#response;
    const write = () => {
      response.writeStatus(statusLine(head.status));
      writeHeaders(response, head.headers, frame.requestId);
      if (bytes !== undefined) room = response.write(bytes);
    };
    if (this.#corked) write();
    else response.cork(write);
    response.onWritable(() => {
      this.owner?.writable();
      return true;
    });
    return room;
  }

  write(bytes: string | Uint8Array): boolean {
    let room = true;
    const response = this.#response;
    if (this.#corked) return response.write(bytes);
    response.cork(() => {
      room = response.write(bytes);
    });
    return room;
  }

  end(frame: Frame): void {
    const response = this.#response;
    const end = () => {
      response.end(undefined, frame.close);
    };
    if (this.#corked) end();
    else response.cork(end);
    this.#over = true;
    this.owner?.sent();
  }

  destroy(): void {
    if (this.#over) return;
    this.#over = true;
    this.owner = undefined;
    this.#response.close();
  }
}

const commonHeaders = corsHeaders.map(([name, value]) => `${name}: ${value}`).join('\r\n');
const commonName = commonHeaders.slice(0, commonHeaders.indexOf(':'));
const commonRest = commonHeaders.slice(commonHeaders.indexOf(':') + 2);

/** One call for all lines: the library writes a value as it is, and each call costs as much as the lines themselves. */
const writeHeaders = (response: HttpResponse, headers: HeaderList, requestId: string): void => {
  let lines = `${commonRest}\r\nx-request-id: ${requestId}\r\nrequest-id: ${requestId}`;
  for (const name in headers) lines += `\r\n${name}: ${oneLine(headers[name] ?? '')}`;
  response.writeHeader(commonName, lines);
};

const lineBreak = /[\r\n\0]/g;
const oneLine = (value: string): string => (lineBreak.test(value) ? value.replace(lineBreak, ' ') : value);

const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
