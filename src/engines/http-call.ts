/** One HTTP call's events, as undici tells them, in; the answer's head and its bytes, joined per turn of the event loop, out. */
import type { Subscriber } from 'rxjs';
import type { Dispatcher } from 'undici';
import type { DemandListener } from '../ports/demand.ts';
import type { Deadlines, Expiring } from './deadlines.ts';
import {
  connectionError,
  type EngineError,
  type Limit,
  type Progress,
  statusError,
  timeoutError,
} from './engine-error.ts';

/** In milliseconds. */
export interface CallLimits {
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

/** First one head, then buffers, each the receiver's to keep. Fails with an `EngineError`. */
export type EngineBytes = EngineHead | Buffer;

/** The head of a good answer. */
export interface EngineHead {
  readonly contentType: string;
  /** The answer is whole: on unsubscribing what the engine still says is read and dropped, and its connection kept. */
  settle(): void;
}

/** Shared by the calls to one replica. undici starts a call on a new connection in the same breath as it tells of it. */
export interface Connections {
  fresh: boolean;
}

/** What may be read ahead of the reader. */
const HELD_LIMIT = 64 * 1024;
const ERROR_BODY_LIMIT = 64 * 1024;
const LINGER_BYTES = 64 * 1024;
const LINGER_MS = 1000;

export class HttpCall implements Dispatcher.DispatchHandler, DemandListener, Expiring, EngineHead {
  contentType = '';
  readonly #reader: Subscriber<EngineBytes>;
  readonly #limits: CallLimits;
  readonly #deadlines: Deadlines;
  readonly #connections: Connections;
  readonly #explain: (body: string) => string | undefined;
  readonly #begun: number;
  #lastRead: number;
  #controller: Dispatcher.DispatchController | undefined;
  #reused = false;
  #answering = false;
  #status = 0;
  #retryAfter: string | undefined;
  #anyBytes = false;
  #headSent = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #full = false;
  #paused = false;
  #scheduled = false;
  #ended = false;
  #error: EngineError | undefined;
  #settled = false;
  /** Nobody listens any more. */
  #closed = false;
  #lingered = 0;

  constructor(
    reader: Subscriber<EngineBytes>,
    limits: CallLimits,
    deadlines: Deadlines,
    connections: Connections,
    explain: (body: string) => string | undefined,
  ) {
    this.#reader = reader;
    this.#limits = limits;
    this.#deadlines = deadlines;
    this.#connections = connections;
    this.#explain = explain;
    deadlines.add(this);
    this.#begun = deadlines.now;
    this.#lastRead = deadlines.now;
  }

  // ── the reader's side ──────────────────────────────────────────────────────────────────────────

  pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#lastRead = this.#deadlines.now;
    if (!this.#full) this.#controller?.resume();
    this.#schedule();
  }

  settle(): void {
    this.#settled = true;
  }

  /** Ends the call at once, also when the engine has not been dialled yet; a settled one may say its last words. */
  close(): void {
    this.#closed = true;
    if (this.#ended || this.#error !== undefined) return;
    if (this.#settled) {
      this.#lastRead = this.#deadlines.now;
      this.#controller?.resume();
    } else this.#abort();
  }

  // ── undici's side ──────────────────────────────────────────────────────────────────────────────

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#reused = !this.#connections.fresh;
    this.#connections.fresh = false;
    this.#lastRead = this.#deadlines.now;
    if (this.#closed || this.#error !== undefined) controller.abort(new Error('The call was given up'));
    else if (this.#paused) controller.pause();
  }

  /** The first byte of a head has come: from here on the connection was no stale one. */
  onResponseStarted(): void {
    this.#answering = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.contentType = String(headers['content-type'] ?? '');
    if (status >= 300) this.#retryAfter = String(headers['retry-after'] ?? '');
    this.#schedule();
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#lastRead = this.#deadlines.now;
    this.#anyBytes = true;
    if (this.#closed) {
      this.#lingered += bytes.length;
      if (this.#lingered > LINGER_BYTES) this.#abort();
      return;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#status >= 300) {
      if (this.#heldBytes > ERROR_BODY_LIMIT) this.#fail(this.#statusError());
      return;
    }
    if (this.#heldBytes >= HELD_LIMIT) {
      this.#full = true;
      controller.pause();
    }
    this.#schedule();
  }

  onResponseEnd(): void {
    this.#deadlines.delete(this);
    if (this.#closed) return;
    if (this.#status >= 300) this.#fail(this.#statusError());
    else this.#ended = true;
    this.#schedule();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#deadlines.delete(this);
    if (!this.#closed) this.#fail(connectionError(error, this.#progress()));
  }

  #progress(): Progress {
    if (this.#status > 0) return 'answered';
    return this.#reused && !this.#answering ? 'stale' : 'waiting';
  }

  // ── the clock's side ───────────────────────────────────────────────────────────────────────────

  expire(now: number): void {
    // Every time noted may be a tick old; none may fire early for it.
    const sure = now - this.#deadlines.tick;
    if (this.#closed) {
      if (sure - this.#lastRead > LINGER_MS) this.#abort();
    } else if (sure - this.#begun > this.#limits.total) this.#timeOut('total', this.#limits.total);
    else if (this.#controller === undefined) return;
    else if (!this.#anyBytes) {
      if (sure - this.#lastRead > this.#limits.firstByte) this.#timeOut('first_byte', this.#limits.firstByte);
    } else if (!this.#paused && sure - this.#lastRead > this.#limits.idle) {
      this.#timeOut('idle', this.#limits.idle);
    }
  }

  #timeOut(limit: Limit, milliseconds: number): void {
    this.#fail(timeoutError(limit, milliseconds));
  }

  // ── passing on ─────────────────────────────────────────────────────────────────────────────────

  #fail(error: EngineError): void {
    if (this.#ended || this.#error !== undefined) return;
    this.#error = error;
    if (this.#status >= 300) {
      this.#held = [];
      this.#heldBytes = 0;
    }
    this.#abort();
    this.#schedule();
  }

  #statusError(): EngineError {
    const body = Buffer.concat(this.#held).toString('utf8', 0, ERROR_BODY_LIMIT);
    return statusError(this.#status, this.#retryAfter, this.#explain(body));
  }

  #abort(): void {
    this.#deadlines.delete(this);
    this.#controller?.abort(new Error('The call was given up'));
  }

  /** undici calls once for each chunk of the HTTP framing; what came in one turn goes on in one piece, outside its parser. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(flush, this);
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#closed) return;
    if (!this.#headSent && this.#status >= 200 && this.#status < 300) {
      this.#headSent = true;
      this.#reader.next(this);
    }
    if (this.#heldBytes > 0 && !this.#paused && !this.#closed && this.#status < 300) this.#passOn();
    if (this.#closed || this.#heldBytes > 0) return;
    if (this.#error !== undefined) this.#reader.error(this.#error);
    else if (this.#ended) this.#reader.complete();
  }

  #passOn(): void {
    const held = this.#held;
    const bytes = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#full) {
      this.#full = false;
      this.#reader.next(bytes);
      if (!this.#paused && !this.#closed) this.#controller?.resume();
    } else this.#reader.next(bytes);
  }
}

const flush = (call: HttpCall): void => call.flush();
