/** Writes the replies of a pipeline to a channel, and pauses the pipeline while the socket is full. */
import type { LimitWindow } from '../errors.ts';
import type { Head, Reply, WholeReply } from '../ports/exchange.ts';
import type { HttpExchange } from './http-exchange.ts';
import { lengthOf } from './reply-bytes.ts';
import { RequestLine } from './response-log.ts';
import { servedLines, windowLines } from './served-lines.ts';
import type { Frame } from './servers/channel.ts';

/** waiting: nothing written; streaming: a head came; ended: the last byte is on its way; over: the channel is done. */
export type Phase = 'waiting' | 'streaming' | 'ended' | 'over';

/** Its methods throw when the pipeline breaks the rules of `Reply`, or when the server does not take the bytes. */
export abstract class ReplyWriter implements Frame {
  protected readonly exchange: HttpExchange;
  /** Undefined where requests are not logged. */
  readonly line: RequestLine | undefined;
  /** When the request came. */
  readonly begun = performance.now();
  /** When the head of the response was written; 0 until then, and where no model was called. */
  headAt = 0;
  phase: Phase = 'waiting';
  /** 0 until one is written. */
  status = 0;
  /** The socket is full. */
  full = false;
  /** When something was last written, or last read by the client. */
  touched: number;
  lines = '';
  /** The limit that refused it. */
  protected refusedBy: LimitWindow | undefined;
  bodiless = false;
  length: number | undefined;
  close = false;
  unread = false;
  /** A head that waits for the first bytes of the same tick, to be written together with them. */
  #head: Head | undefined;
  #keepAlive: string | undefined;
  /** Bytes still to come of a stream of known length. */
  #left: number | undefined;

  constructor(exchange: HttpExchange) {
    const { core } = exchange;
    this.exchange = exchange;
    this.touched = core.now;
    this.line = core.logging ? new RequestLine(core.log) : undefined;
  }

  /** The response has no body: nothing more of the pipeline is wanted. */
  abstract detach(): void;
  abstract failed(thrown: unknown): void;

  get requestId(): string {
    return this.exchange.id;
  }

  write(reply: Reply): void {
    switch (reply.kind) {
      case 'bytes':
        this.#bytes(reply.bytes, reply.last === true);
        break;
      case 'whole':
        this.whole(reply);
        break;
      case 'head':
        this.#head = reply;
        this.#left = reply.length;
        this.phase = 'streaming';
        // Bytes of the same tick go out with the head; if there are none, it goes alone.
        queueMicrotask(() => this.#flushHead());
    }
  }

  whole(reply: WholeReply): void {
    if (this.phase === 'streaming') throw new Error('The pipeline answered after a head');
    this.phase = 'ended';
    this.#settle(reply.status);
    if (this.exchange.method === 'HEAD') this.length = lengthOf(reply.body);
    this.line?.count(reply.body);
    this.touched = this.exchange.core.now;
    this.exchange.channel.answer(reply, this);
  }

  /** The pipeline completed. */
  end(): void {
    if (this.phase === 'waiting') throw new Error('The pipeline ended without a reply');
    if (this.phase === 'streaming' && this.#head !== undefined) this.#start(this.#head, undefined, true);
    if (this.phase !== 'streaming') return;
    if (this.#left !== undefined && this.#left > 0) throw new Error('The stream is shorter than it said');
    this.phase = 'ended';
    this.exchange.channel.end();
  }

  /** Writes the stream's keep-alive comment if it has been silent for that long. */
  keepAlive(silentMs: number): void {
    if (this.phase !== 'streaming' || this.#keepAlive === undefined) return;
    if (this.exchange.core.now - this.touched >= silentMs) this.#bytes(this.#keepAlive, false);
  }

  /** The socket has room again. */
  resume(): void {
    this.full = false;
    this.exchange.backpressure.resume();
  }

  #bytes(bytes: string | Uint8Array, last: boolean): void {
    if (this.phase === 'waiting') throw new Error('The pipeline sent bytes before a head');
    this.touched = this.exchange.core.now;
    this.line?.count(bytes);
    const head = this.#head;
    if (this.#left !== undefined) this.#left -= Buffer.byteLength(bytes);
    if (this.#left !== undefined && this.#left < 0) throw new Error('The stream is longer than it said');
    if (head === undefined) this.#written(this.exchange.channel.write(bytes, last));
    else this.#start(head, bytes, last);
  }

  /** Without bytes the stream begins with its keep-alive comment: some servers hold a bare head back. */
  #flushHead(): void {
    const head = this.#head;
    if (head === undefined || this.phase !== 'streaming') return;
    try {
      this.#start(head, head.length === undefined ? head.keepAlive : undefined, false);
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #start(head: Head, bytes: string | Uint8Array | undefined, last: boolean): void {
    this.#head = undefined;
    this.#settle(head.status);
    this.length = head.length;
    if (head.length === undefined) this.#keepAlive = head.keepAlive;
    if (this.bodiless) {
      this.phase = 'ended';
      this.exchange.channel.answer(
        { kind: 'whole', status: head.status, headers: head.headers, body: '' },
        this,
      );
      this.detach();
    } else this.#written(this.exchange.channel.start(head, this, bytes, last));
  }

  #settle(status: number): void {
    this.status = status;
    this.exchange.stats.count(status);
    const { method, upload, core, channel } = this.exchange;
    this.bodiless = method === 'HEAD' || status === 204 || status === 304;
    this.unread = channel.malformed !== undefined || (upload !== undefined && !upload.dismiss());
    this.close = this.unread || channel.isLast || core.draining;
    this.lines = this.#linesOf(this.exchange);
  }

  #linesOf({ core, served, dialect, received }: HttpExchange): string {
    const { responseHeaders: which } = core;
    const { refusedBy } = this;
    if (served === undefined && refusedBy === undefined) return '';
    const now = performance.now();
    if (served === undefined)
      return refusedBy === undefined || which === 'off' ? '' : windowLines(refusedBy, dialect, now);
    this.headAt = now;
    if (received > 0)
      served.overheadMs = Math.max(0, now - received - served.lease.waited - served.queuedMs - served.busyMs);
    return which === 'off' ? '' : servedLines({ served, refusedBy, dialect, which, now });
  }

  #written(room: boolean): void {
    if (room || this.full) return;
    this.full = true;
    this.exchange.backpressure.pause();
  }
}
