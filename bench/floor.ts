/** The floor: a bare relay that forwards bytes between client and engine and parses nothing. */

import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';

const uws: typeof import('uWebSockets.js') = createRequire(import.meta.url)('uWebSockets.js');
const engine = new Pool(process.env.ENGINE ?? '', {
  connections: null,
  pipelining: 1,
  headersTimeout: 0,
  bodyTimeout: 0,
});
const wholeBodyLimit = 65_536;

/** One exchange: undici calls it with the engine's response, uWS with the client's state. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: HttpResponse;
  #controller: Dispatcher.DispatchController | undefined;
  #pieces: Buffer[] = [];
  #status = '200 OK';
  #contentType = '';
  #headSent = false;
  #ended = false;
  #scheduled = false;
  #gone = false;

  constructor(response: HttpResponse) {
    this.#response = response;
    response.onAborted(() => {
      this.#gone = true;
      this.#controller?.abort(new Error('client disconnected'));
    });
  }

  get gone(): boolean {
    return this.#gone;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone) controller.abort(new Error('client disconnected'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status !== 200) this.#status = `${status} Engine`;
    this.#contentType = String(headers['content-type'] ?? 'application/octet-stream');
    this.#schedule();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#schedule();
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#schedule();
  }

  onResponseError(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#headSent) this.#response.close();
    else this.#response.cork(() => this.#response.writeStatus('502 Bad Gateway').end());
  }

  /** One write per read of the engine's socket: the microtask runs after the read. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#flush);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (!this.#gone) this.#response.cork(this.#send);
  };

  readonly #send = (): void => {
    const response = this.#response;
    if (!this.#headSent) {
      this.#headSent = true;
      response.writeStatus(this.#status).writeHeader('content-type', this.#contentType);
      if (!this.#ended)
        response.onWritable(() => {
          this.#controller?.resume();
          return true;
        });
    }
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces);
    this.#pieces = [];
    if (this.#ended) {
      this.#gone = true;
      response.end(bytes);
    } else if (bytes !== undefined && bytes.length > 0 && !response.write(bytes)) {
      this.#controller?.pause();
    }
  };
}

const relay = (response: HttpResponse, request: HttpRequest): void => {
  const path = request.getUrl();
  const method = request.getCaseSensitiveMethod() as Dispatcher.HttpMethod;
  const length = Number(request.getHeader('content-length'));
  const headers = {
    'content-type': request.getHeader('content-type'),
    authorization: request.getHeader('authorization'),
  };
  const exchange = new Relay(response);
  const send = (body: Buffer | Readable): void => {
    engine.dispatch({ path, method, headers, body }, exchange);
  };
  if (length > wholeBodyLimit) send(bodyStream(response, exchange));
  else wholeBody(response, exchange, send);
};

const wholeBody = (response: HttpResponse, exchange: Relay, send: (body: Buffer) => void): void => {
  let pieces: Buffer[] | undefined;
  response.onData((bytes, isLast) => {
    // uWS reuses the memory when this returns.
    const piece = Buffer.from(Buffer.from(bytes));
    if (!isLast || pieces !== undefined) pieces = [...(pieces ?? []), piece];
    if (isLast && !exchange.gone) send(pieces === undefined ? piece : Buffer.concat(pieces));
  });
};

const bodyStream = (response: HttpResponse, exchange: Relay): Readable => {
  let paused = false;
  const body = new Readable({
    highWaterMark: 4 * wholeBodyLimit,
    read() {
      if (paused && !exchange.gone) response.resume();
      paused = false;
    },
  });
  response.onData((bytes, isLast) => {
    const room = body.push(Buffer.from(Buffer.from(bytes)));
    if (isLast) body.push(null);
    else if (!room && !paused) {
      paused = true;
      response.pause();
    }
  });
  return body;
};

uws
  .App()
  .any('/*', relay)
  .listen('127.0.0.1', Number(process.env.PORT ?? 0), (socket) => {
    if (!socket) throw new Error('the floor cannot listen');
  });
for (const end of ['disconnect', 'SIGTERM']) process.on(end, () => process.exit(0));
