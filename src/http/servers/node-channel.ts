/** A channel on node:http. */
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Head, HeaderList, HeaderName, SessionHeader, WholeReply } from '../../ports/exchange.ts';
import type { EdgeLimits } from '../limits.ts';
import { bytesOf } from '../reply-bytes.ts';
import type { Channel, ChannelOwner, Frame } from './channel.ts';
import { corsHeaders, headerValue, reasonPhrase } from './common-headers.ts';
import { FramingCheck } from './framing.ts';
import { Linger } from './linger.ts';
import { Pieces, pieceBytes } from './pieces.ts';

const framing = new FramingCheck();
const readFromSocket = IncomingMessage.prototype._read;

export class NodeChannel implements Channel {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly bodyLength: number | undefined;
  readonly malformed: string | undefined;
  /** Its parser is strict. */
  readonly isLast = false;
  readonly borrowsBody = false;
  owner: ChannelOwner | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #limits: EdgeLimits;
  /** Bytes that wait for room in the socket. */
  readonly #rest = new Pieces();
  #ending = false;
  #paused = false;

  constructor(request: IncomingMessage, response: ServerResponse, limits: EdgeLimits) {
    this.#request = request;
    this.#response = response;
    this.#limits = limits;
    this.method = request.method ?? '';
    const url = withoutAuthority(request.url ?? '');
    framing.begin(url.length);
    const { rawHeaders } = request;
    for (let at = 0; at < rawHeaders.length; at += 2)
      framing.line((rawHeaders[at] ?? '').toLowerCase(), rawHeaders[at + 1] ?? '');
    this.malformed = framing.fault(limits.maxHeaderBytes, request.httpVersion);
    this.bodyLength = framing.bodyLength;
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
    response.on('drain', () => this.#drained());
    response.on('finish', () => this.owner?.sent());
    response.on('close', () => this.disconnected());
    // A socket that breaks under a write; its close follows.
    response.on('error', () => this.disconnected());
  }

  /** All of the request has arrived. */
  get arrived(): boolean {
    return this.#request.complete;
  }

  /** The head of the response is sent. */
  get started(): boolean {
    return this.#response.headersSent;
  }

  /** The connection is closed, by either side. */
  disconnected(): void {
    if (!this.#response.writableFinished) this.owner?.gone();
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  receiveBody(): void {
    this.#request.on('data', (chunk: Buffer) => this.owner?.data(chunk, false));
    this.#request.on('end', () => this.owner?.data(nothing, true));
    // The close of the response reports a body that breaks off.
    this.#request.on('error', () => {});
  }

  get address(): string {
    return this.#request.socket.remoteAddress ?? '';
  }

  header(name: HeaderName | SessionHeader): string {
    const value = this.#request.headers[name];
    return typeof value === 'string' ? value : (value?.join(', ') ?? '');
  }

  askForBody(): void {
    if (this.#request.headers.expect?.toLowerCase() === '100-continue') this.#response.writeContinue();
  }

  /**
   * A paused request still takes chunks until its buffer is full, and so many tiny ones are much work: the socket is
   * paused as well, and the request kept from resuming it.
   */
  pauseBody(): void {
    this.#paused = true;
    this.#request.pause();
    this.#request._read = () => {};
    this.#request.socket.pause();
  }

  /** At the next turn of the event loop: other connections come first. */
  resumeBody(): void {
    this.#paused = false;
    setImmediate(() => {
      if (this.#paused) return;
      this.#request._read = readFromSocket;
      this.#request.socket.resume();
      this.#request.resume();
    });
  }

  excuse(): void {}

  answer(reply: WholeReply, frame: Frame): void {
    const body = bytesOf(reply.body);
    const headers = headerList(reply.headers, frame);
    const length = frame.bodiless ? frame.length : body.byteLength;
    if (length !== undefined) headers.push('content-length', String(length));
    this.#response.writeHead(reply.status, reasonPhrase(reply.status), headers);
    if (frame.unread) this.#linger(frame.bodiless ? nothing : body);
    else if (frame.bodiless) this.#response.end();
    else if (body.byteLength <= pieceBytes) this.#response.end(body);
    else {
      this.write(body);
      this.end();
    }
  }

  /** Complete by its length, but not ended: that would close the connection. */
  #linger(body: Uint8Array): void {
    const owner = this.owner;
    this.#response.write(body);
    this.owner = new Linger(this, this.#limits.lingerMs, () => this.#response.end());
    owner?.sent();
  }

  start(head: Head, frame: Frame, bytes: string | Uint8Array | undefined): boolean {
    const headers = headerList(head.headers, frame);
    if (head.length !== undefined) headers.push('content-length', String(head.length));
    this.#response.writeHead(head.status, reasonPhrase(head.status), headers);
    if (bytes !== undefined) return this.write(bytes);
    this.#response.flushHeaders();
    return true;
  }

  write(bytes: string | Uint8Array): boolean {
    if (typeof bytes === 'string' && this.#rest.empty && bytes.length <= pieceBytes)
      return this.#response.write(bytes);
    this.#rest.add(bytes);
    return this.#sendRest();
  }

  #sendRest(): boolean {
    // Node keeps what it is given until it is sent, and pieces are borrowed.
    return this.#rest.send((piece) => this.#response.write(Buffer.from(piece)));
  }

  #drained(): void {
    this.owner?.moving();
    try {
      if (!this.#sendRest() && !this.#rest.empty) return;
      if (this.#ending) this.#response.end();
      else if (!this.#response.writableNeedDrain) this.owner?.writable();
    } catch (thrown) {
      this.owner?.failed(thrown);
    }
  }

  end(): void {
    if (this.#rest.empty) this.#response.end();
    else this.#ending = true;
  }

  get buffered(): number {
    return this.#rest.bytes + this.#response.writableLength;
  }

  destroy(): void {
    this.owner = undefined;
    this.#response.destroy();
  }
}

const nothing = Buffer.alloc(0);

/** Proxies are sent whole addresses, and every server has to accept them. */
const withoutAuthority = (target: string): string =>
  target.startsWith('http') ? target.replace(/^https?:\/\/[^/?]+/, '') : target;

const headerList = (headers: HeaderList, frame: Frame): string[] => {
  const list: string[] = corsHeaders.flat();
  list.push('x-request-id', frame.requestId, 'request-id', frame.requestId);
  for (const name in headers) list.push(name, headerValue(headers[name] ?? ''));
  for (const line of frame.lines.split('\r\n')) if (line !== '') list.push(...line.split(': ', 2));
  if (frame.close) list.push('connection', 'close');
  return list;
};
