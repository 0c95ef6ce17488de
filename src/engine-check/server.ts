/** Sends single requests to the checked server, below what the engine code hides. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { bodyBytes, type OutgoingBody } from '../engines/http1/outgoing-body.ts';
import type { WireRequest } from '../engines/wire.ts';

export interface Received {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface Departure {
  /** Milliseconds until the server closed the connection; undefined: it did not. */
  readonly noticed: number | undefined;
  /** The response was complete all the same. */
  readonly complete: boolean;
  /** Bytes that came after the client had gone. */
  readonly bytesAfter: number;
}

const longestBody = 256 * 1024 * 1024;

export class CheckedServer {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;

  constructor(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#base = new URL(url);
    this.#headers = headers;
    this.#signal = signal;
  }

  /** Any status resolves; rejects when there is no response. */
  async send(method: string, path: string, sent?: Omit<WireRequest, 'path'>): Promise<Received> {
    const { response } = await this.#begin(method, path, sent);
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length > longestBody) throw new Error(`The response is longer than ${longestBody} bytes`);
      pieces.push(piece);
    }
    return {
      status: response.statusCode ?? 0,
      contentType: response.headers['content-type'] ?? '',
      body: Buffer.concat(pieces),
    };
  }

  /**
   * Disconnects as the gateway does when its client has gone, but goes on reading. TCP tells the server the same either
   * way, and reading on shows whether it stops.
   */
  async leave({ path, ...sent }: WireRequest, patienceMs: number): Promise<Departure> {
    const { response, leave } = await this.#begin('POST', path, sent);
    if ((response.statusCode ?? 0) >= 300) {
      const { status, body } = { status: response.statusCode, body: await textOf(response) };
      throw new Error(`The server answered ${status}: ${body}`);
    }
    return new Promise((resolve) => {
      let left = 0;
      let bytesAfter = 0;
      const done = (noticed: number | undefined): void => {
        clearTimeout(timer);
        response.destroy();
        resolve({ noticed, complete: response.complete, bytesAfter });
      };
      const timer = setTimeout(() => done(undefined), patienceMs);
      response.on('data', (piece: Buffer) => {
        if (left > 0) bytesAfter += piece.length;
        else {
          left = Date.now();
          leave();
        }
      });
      response.on('error', () => undefined);
      response.on('close', () => done(left === 0 ? undefined : Date.now() - left));
    });
  }

  async #begin(method: string, path: string, sent: Omit<WireRequest, 'path'> | undefined) {
    const url = new URL(this.#base);
    const [pathname = '', query] = path.split('?');
    url.pathname = this.#base.pathname.replace(/(?<!\/)\/+$/, '') + pathname;
    url.search = query ?? '';
    const body = sent === undefined ? undefined : await wholeBody(sent.body);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(url, {
      method,
      signal: this.#signal,
      agent: false,
      headers: {
        ...this.#headers,
        ...(body === undefined
          ? {}
          : { 'content-type': sent?.contentType ?? 'application/json', 'content-length': body.length }),
      },
    });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', resolve);
      request.end(body);
    });
    return { response, leave: () => request.socket?.end() };
  }
}

const wholeBody = async (body: OutgoingBody): Promise<Buffer> => {
  if (typeof body === 'string') return Buffer.from(body);
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyBytes(body)) pieces.push(piece);
  return Buffer.concat(pieces);
};

const longestReason = 500;

const textOf = async (response: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const piece of response as AsyncIterable<Buffer>)
    if (text.length < longestReason) text += piece.toString('utf8');
  return text.slice(0, longestReason);
};
