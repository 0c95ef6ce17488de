/** A raw socket client that sends given bytes and parses responses. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { eventually } from '../eventually.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Waits until a number has stopped changing. */
export const settled = async (value: () => number): Promise<void> => {
  let last = value();
  let since = performance.now();
  await eventually(() => {
    if (value() !== last) {
      last = value();
      since = performance.now();
    }
    return performance.now() - since > 150;
  }, 'it to settle');
};

export class RawClient {
  readonly socket: Socket;
  #received: Buffer[] = [];
  /** All bytes that ever came. */
  total = 0;
  closed = false;
  errorCode = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.total += chunk.length;
      this.#received.push(chunk);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.errorCode = error.code ?? error.message;
    });
    socket.on('close', () => {
      this.closed = true;
    });
  }

  static async connect(port: number, tls = false): Promise<RawClient> {
    const socket = tls
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect(port, '127.0.0.1');
    const client = new RawClient(socket);
    let connected = false;
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      connected = true;
    });
    await eventually(() => connected || client.closed, 'a connection');
    if (!connected) throw new Error(`No connection: ${client.errorCode}`);
    return client;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  /** What came and was not taken by `response`, byte for byte. */
  get text(): string {
    return this.#joined().toString('latin1');
  }

  /** The same, without the framing of the chunks of a response that has begun: those that are complete, or all. */
  streamed(which: 'all' | 'complete' = 'all'): string {
    return chunksOf(this.#joined(), which).toString('latin1');
  }

  async received(part: string): Promise<void> {
    await eventually(
      () => this.text.includes(part) || this.streamed().includes(part),
      `${JSON.stringify(part)} in ${JSON.stringify(this.text.slice(-300))}`,
    );
  }

  async disconnected(ms?: number): Promise<void> {
    await eventually(() => this.closed, 'the connection to be closed', ms);
  }

  /** The next whole response. */
  async response(options: { head?: boolean } = {}): Promise<RawResponse> {
    let taken: Taken | undefined;
    let seen = -1;
    const look = () => {
      // While much is still coming there is nothing to see yet.
      const growing = this.total > 1_000_000 && this.total !== seen;
      seen = this.total;
      if (growing) return false;
      taken = takeResponse(this.#joined(), options.head === true, this.closed);
      return taken !== undefined || this.closed;
    };
    await eventually(look, 'a whole response');
    taken ??= takeResponse(this.#joined(), options.head === true, true);
    if (taken === undefined) throw new Error(`The connection closed after ${JSON.stringify(this.text)}`);
    this.#received = [taken.rest];
    return taken.response;
  }

  #joined(): Buffer {
    if (this.#received.length > 1) this.#received = [Buffer.concat(this.#received)];
    return this.#received[0] ?? Buffer.alloc(0);
  }
}

interface Taken {
  readonly response: RawResponse;
  readonly rest: Buffer;
}

const takeResponse = (bytes: Buffer, isHead: boolean, closed: boolean): Taken | undefined => {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const start = end + 4;
  const done = (body: Buffer, next: number): Taken => ({
    response: { status, headers, body: body.toString() },
    rest: bytes.subarray(next),
  });
  if (isHead || status < 200 || status === 204 || status === 304) return done(Buffer.alloc(0), start);
  const length = headers['content-length'];
  if (length !== undefined) {
    const next = start + Number(length);
    return bytes.length < next ? undefined : done(bytes.subarray(start, next), next);
  }
  if (headers['transfer-encoding'] === 'chunked') return takeChunks(bytes, start, done);
  return closed ? done(bytes.subarray(start), bytes.length) : undefined;
};

const chunksOf = (bytes: Buffer, which: 'all' | 'complete'): Buffer => {
  const pieces: Buffer[] = [];
  let at = bytes.indexOf('\r\n\r\n') + 4;
  for (let line = bytes.indexOf('\r\n', at); at >= 4 && line >= 0; line = bytes.indexOf('\r\n', at)) {
    const end = line + 2 + Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (which === 'all' || bytes.length >= end + 2) pieces.push(bytes.subarray(line + 2, end));
    at = end + 2;
    if (Number.isNaN(end)) break;
  }
  return Buffer.concat(pieces);
};

const takeChunks = (
  bytes: Buffer,
  start: number,
  done: (body: Buffer, next: number) => Taken,
): Taken | undefined => {
  const pieces: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    if (Number.isNaN(size)) throw new Error(`Not a chunk: ${bytes.toString('latin1', at, at + 50)}`);
    if (size === 0) {
      // Trailers, if any, end with an empty line.
      const end = bytes.indexOf('\r\n\r\n', line);
      return end < 0 ? undefined : done(Buffer.concat(pieces), end + 4);
    }
    const next = line + 2 + size + 2;
    if (bytes.length < next) return undefined;
    pieces.push(bytes.subarray(line + 2, line + 2 + size));
    at = next;
  }
};

/** The bytes of a request; `content-length` is added to a body that has no length of its own. */
export const request = (
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string | Buffer } = {},
): Buffer => {
  const headers: Record<string, string> = { host: 'test', ...options.headers };
  const body = Buffer.from(options.body ?? '');
  if (options.body !== undefined && headers['transfer-encoding'] === undefined)
    headers['content-length'] ??= String(body.length);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), body]);
};
