/** The replies of a pipeline in; one HTTP response on its channel out, with backpressure, abort, keep-alive and time-outs. */
import { Subscriber } from 'rxjs';
import { type ApiError, asApiError, errorJson, fail } from '../errors.ts';
import { unindexed } from '../indexed-list.ts';
import { clientLeft } from '../metrics/route-stats.ts';
import type { Head, Reply, WholeReply } from '../ports/exchange.ts';
import { lengthOf } from './answer-bytes.ts';
import type { Channel, ChannelOwner, Frame } from './channel.ts';
import type { CutReason, EdgeCore, OpenResponse } from './edge-core.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { RequestBody } from './request-body.ts';
import { RequestLine } from './request-line.ts';
import type { ServedRoute } from './route-table.ts';

/** waiting: nothing written; streaming: a head came; ended: the last byte is on its way; over: the socket is not ours any more. */
type Phase = 'waiting' | 'streaming' | 'ended' | 'over';

export class Response extends Subscriber<Reply> implements ChannelOwner, Frame, OpenResponse {
  slot = unindexed;
  readonly #core: EdgeCore;
  readonly #channel: Channel;
  readonly #exchange: HttpExchange;
  readonly #body: RequestBody | undefined;
  readonly #route: ServedRoute | undefined;
  readonly #line: RequestLine | undefined;
  #phase: Phase = 'waiting';
  /** A head that waits for bytes of the same turn, to be written together with them. */
  #head: Head | undefined;
  #keepAlive: string | undefined;
  /** Bytes still to come of a stream of known length. */
  #left: number | undefined;
  #full = false;
  /** When the stream was last written to, or its reader last seen to read. */
  #touched: number;
  #status = 0;

  constructor(
    core: EdgeCore,
    channel: Channel,
    exchange: HttpExchange,
    body: RequestBody | undefined,
    route: ServedRoute | undefined,
  ) {
    super();
    this.#core = core;
    this.#channel = channel;
    this.#exchange = exchange;
    this.#body = body;
    this.#route = route;
    this.#touched = core.now;
    this.#line = core.logging ? new RequestLine(core.log) : undefined;
  }

  // ── what every response carries ──────────────────────────────────────────────────────────────────

  get requestId(): string {
    return this.#exchange.id;
  }

  bodiless = false;
  length: number | undefined;
  close = false;
  unread = false;

  #settle(status: number): void {
    this.#status = status;
    this.#count(status);
    this.bodiless = this.#channel.method === 'HEAD' || status === 204 || status === 304;
    this.unread = this.#body !== undefined && !this.#body.dismiss();
    this.close = this.unread || this.#core.draining;
  }

  #count(status: number): void {
    (this.#route?.stats ?? this.#core.unrouted).count(status);
  }

  // ── what is told of it while it runs ─────────────────────────────────────────────────────────────

  get full(): boolean {
    return this.#full;
  }

  get heldAnswer(): number {
    return this.#phase === 'over' ? 0 : this.#channel.held;
  }

  get heldBody(): number {
    return this.#body?.held ?? 0;
  }

  // ── from the pipeline ────────────────────────────────────────────────────────────────────────────

  protected override _next(reply: Reply): void {
    if (this.#phase === 'ended' || this.#phase === 'over') return;
    try {
      this.#reply(reply);
    } catch (thrown) {
      this.#giveUp(thrown);
    }
  }

  protected override _complete(): void {
    if (this.#phase === 'waiting') this._error(new Error('The pipeline ended without a reply'));
    else {
      if (this.#phase === 'streaming') this.#end();
      this.#leavePipeline();
    }
  }

  protected override _error(thrown: unknown): void {
    try {
      this.#fail(thrown);
    } catch (another) {
      this.#giveUp(another);
    }
    this.#leavePipeline();
  }

  #reply(reply: Reply): void {
    switch (reply.kind) {
      case 'bytes':
        this.#write(reply.bytes);
        break;
      case 'whole':
        this.#answer(reply);
        break;
      case 'head':
        this.#head = reply;
        this.#left = reply.length;
        this.#phase = 'streaming';
        // Bytes that come in the same turn go out with the head; if none do, the head goes alone.
        queueMicrotask(() => this.#flushHead());
    }
  }

  // ── from the channel ─────────────────────────────────────────────────────────────────────────────

  data(chunk: Uint8Array, last: boolean): void {
    this.#body?.push(chunk, last);
  }

  moving(): void {
    this.#touched = this.#core.now;
  }

  writable(): void {
    this.#full = false;
    this.#exchange.backpressure.resume();
  }

  sent(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    // A stream of known length is over with its last byte: its source may still wait to say that it is done.
    if (this.#full) this.writable();
    this.#conclude();
    this.#leave();
  }

  gone(): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.unsubscribe();
    if (this.#status === 0) this.#count(clientLeft);
    this.#conclude('client left');
    this.#leave();
  }

  // ── from the edge's timer and its drain ──────────────────────────────────────────────────────────

  tick(): void {
    const { limits, now } = this.#core;
    if (this.#phase === 'waiting') {
      const late = this.#body?.lateness(now, limits);
      if (late !== undefined) this.error(fail('invalid_request', late));
    } else if (this.#full || this.#phase === 'ended') {
      if (now - this.#touched >= limits.stalledReaderMs) this.#cut('reader stalled');
      else this.#channel.excuse();
    } else if (
      this.#phase === 'streaming' &&
      this.#keepAlive !== undefined &&
      now - this.#touched >= limits.keepAliveMs
    )
      this.#write(this.#keepAlive);
  }

  cut(): void {
    const { stream } = this.#exchange;
    if (this.#phase === 'waiting') this.error(shuttingDown());
    else if (this.#phase === 'over') this.unsubscribe();
    else if (this.#phase === 'streaming' && stream !== undefined) stream.error(shuttingDown());
    else this.#cut('shutting down');
    this.#leave();
  }

  // ── writing ──────────────────────────────────────────────────────────────────────────────────────

  #answer(answer: WholeReply): void {
    if (this.#phase === 'streaming') {
      this.#fail(new Error('The pipeline answered after a head'));
      return;
    }
    this.#phase = 'ended';
    this.#settle(answer.status);
    if (this.#channel.method === 'HEAD') this.length = lengthOf(answer.body);
    this.#line?.count(answer.body);
    this.#touched = this.#core.now;
    this.#channel.answer(answer, this);
  }

  #write(bytes: string | Uint8Array): void {
    if (this.#phase === 'waiting') {
      this.error(new Error('The pipeline sent bytes before a head'));
      return;
    }
    this.#touched = this.#core.now;
    this.#line?.count(bytes);
    const head = this.#head;
    if (this.#left !== undefined) this.#left -= Buffer.byteLength(bytes);
    if (this.#left !== undefined && this.#left < 0)
      this.#fail(new Error('The stream is longer than it said'));
    else if (head === undefined) this.#filled(this.#channel.write(bytes));
    else this.#start(head, bytes);
  }

  /** Without bytes of its own the stream begins with its keep-alive comment: some servers hold a bare head back. */
  #flushHead(): void {
    const head = this.#head;
    if (head !== undefined && this.#phase === 'streaming')
      this.#start(head, head.length === undefined ? head.keepAlive : undefined);
  }

  #start(head: Head, bytes: string | Uint8Array | undefined): void {
    this.#head = undefined;
    this.#settle(head.status);
    this.length = head.length;
    if (head.length === undefined) this.#keepAlive = head.keepAlive;
    if (this.bodiless) {
      this.#phase = 'ended';
      this.#channel.answer({ kind: 'whole', status: head.status, headers: head.headers, body: '' }, this);
      this.#leavePipeline();
    } else this.#filled(this.#channel.start(head, this, bytes));
  }

  #filled(room: boolean): void {
    if (room || this.#full) return;
    this.#full = true;
    this.#exchange.backpressure.pause();
  }

  #end(): void {
    if (this.#head !== undefined) this.#start(this.#head, undefined);
    if (this.#phase !== 'streaming') return;
    if (this.#left !== undefined && this.#left > 0) {
      this.#fail(new Error('The stream is shorter than it said'));
      return;
    }
    this.#phase = 'ended';
    this.#channel.end();
  }

  #fail(thrown: unknown): void {
    const error = asApiError(thrown);
    this.#logFailure(error, thrown);
    if (this.#phase === 'streaming') this.#cut('failed');
    else if (this.#phase === 'waiting') this.#answer(this.#errorAnswer(error));
  }

  #errorAnswer(error: ApiError): WholeReply {
    const body = errorJson(error, this.#exchange.dialect, this.#exchange.id);
    return {
      kind: 'whole',
      status: error.status,
      headers: { 'content-type': 'application/json', ...error.headers },
      body,
    };
  }

  #cut(reason: CutReason): void {
    this.#phase = 'over';
    this.#channel.destroy();
    this.unsubscribe();
    this.#conclude(reason);
    this.#leave();
  }

  /** Not even an error could be written. */
  #giveUp(thrown: unknown): void {
    this.#exchange.log.error({ err: thrown, route: this.#route?.path ?? null }, 'request failed');
    this.#cut('failed');
  }

  #leavePipeline(): void {
    this.unsubscribe();
    this.#leave();
  }

  /** Open until both the pipeline and the socket are done with it. */
  #leave(): void {
    if (this.#phase !== 'over' || !this.closed) return;
    this.#core.open.delete(this);
    if (this.#core.draining && this.#core.open.size === 0) this.#core.drained();
  }

  // ── the log ──────────────────────────────────────────────────────────────────────────────────────

  #conclude(cut?: CutReason): void {
    if (cut !== undefined) this.#core.cuts[cut]++;
    this.#exchange.trace?.end(this.#status, cut);
    this.#line?.write(this.#exchange, this.#channel.method, this.#route?.path, this.#status, cut);
  }

  /** Expected failures are the client's to read; the rest is ours. */
  #logFailure(error: ApiError, thrown: unknown): void {
    if (error.kind === 'internal' || this.#phase === 'streaming')
      this.#exchange.log.error(
        { err: error.cause ?? thrown, route: this.#route?.path ?? null },
        'request failed',
      );
    else if (error.status >= 500 && error.cause !== undefined)
      this.#exchange.log.warn({ err: error.cause, message: error.message }, 'request failed');
  }
}

const shuttingDown = (): ApiError => fail('unavailable', 'The server is shutting down');
