/** One HTTP call: passes the response from its connection to its reader, with backpressure and time limits. */

import { unindexed } from '../indexed-list.ts';
import type { Backpressure, Pausable } from '../ports/backpressure.ts';
import type { Deadlines, Expiring } from './deadlines.ts';
import {
  connectionError,
  type EngineError,
  type Limit,
  type Progress,
  statusError,
  timeoutError,
} from './engine-error.ts';
import type { Connection, ResponseHandler } from './http1/connection.ts';
import type { ResponseHead } from './http1/response-head.ts';
import { PendingReads } from './pending-reads.ts';
import type { Wire } from './wire.ts';

/**
 * Takes an answer: one head, bytes that are lent until the call returns, an end; or an error at any point, and nothing
 * after it. With `last` the end follows at once, and until it returns the bytes are lent.
 */
export interface EngineReader {
  head(head: EngineHead): void;
  bytes(bytes: Buffer, last: boolean): void;
  end(): void;
  error(error: EngineError): void;
}

/** The head of a good answer. */
export interface EngineHead {
  readonly contentType: string;
  /** The answer is whole: when the call is closed, what the engine still says is read and dropped, and its connection kept. */
  settle(): void;
}

/** A call under way. Closing it ends it at once; after its end, closing does nothing. */
export interface EngineCall {
  close(): void;
}

/** In milliseconds. */
export interface CallLimits {
  readonly firstByte: number;
  readonly idle: number;
  readonly total: number;
}

/** What all calls of a kind to one replica have in common. */
export interface CallSetting {
  readonly limits: CallLimits;
  readonly deadlines: Deadlines;
}

/** Reads the body of an error response; part of every wire. */
export type ReadError = Wire['readError'];

const ERROR_BODY_LIMIT = 64 * 1024;
const LINGER_BYTES = 64 * 1024;
const LINGER_MS = 1000;

export class HttpCall implements ResponseHandler, Pausable, Expiring, EngineHead, EngineCall {
  contentType = '';
  slot = unindexed;
  readonly #setting: CallSetting;
  readonly #reader: EngineReader;
  readonly #backpressure: Backpressure | undefined;
  readonly #readError: ReadError;
  readonly #begun: number;
  #lastRead: number;
  /** Absent before the call is on its way, and once its answer was read. */
  #connection: Connection | undefined;
  #sent = false;
  #status = 0;
  #retryAfter: string | undefined;
  #anyBytes = false;
  #headSent = false;
  /** What has just been read, and lies where the next read will. */
  #lent: Buffer | undefined;
  /** Copies of what could not be passed on at once; most calls have none. */
  #held: PendingReads | undefined;
  /** The reader asked for a pause. */
  #paused = false;
  /** The connection was told to stop reading. */
  #stopped = false;
  #scheduled = false;
  #ended = false;
  #error: EngineError | undefined;
  #settled = false;
  /** Nobody listens any more. */
  #closed = false;
  #lingered = 0;

  /** Without a backpressure the reader takes everything as it comes. */
  constructor(
    setting: CallSetting,
    reader: EngineReader,
    backpressure: Backpressure | undefined,
    readError: ReadError,
  ) {
    this.#setting = setting;
    this.#reader = reader;
    this.#backpressure = backpressure;
    this.#readError = readError;
    setting.deadlines.add(this);
    this.#begun = setting.deadlines.now;
    this.#lastRead = this.#begun;
    backpressure?.attach(this);
  }

  // ── the reader's side ──────────────────────────────────────────────────────────────────────────

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#lastRead = this.#setting.deadlines.now;
    this.#schedule();
  }

  settle(): void {
    this.#settled = true;
  }

  /** Also when the engine has not been dialled yet; a settled engine may say its last words. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#held?.clear();
    this.#backpressure?.detach(this);
    if (this.#ended || this.#error !== undefined) return;
    if (this.#settled) {
      this.#lastRead = this.#setting.deadlines.now;
      this.#readOn();
    } else this.#abort();
  }

  // ── the connection's side ──────────────────────────────────────────────────────────────────────

  /** Where it is sent, or will be once the connection stands. */
  runOn(connection: Connection | undefined): void {
    this.#connection = connection;
  }

  sent(): void {
    this.#sent = true;
    this.#lastRead = this.#setting.deadlines.now;
  }

  head({ status, contentType, retryAfter }: ResponseHead): void {
    this.#status = status;
    this.contentType = contentType;
    this.#retryAfter = retryAfter;
  }

  read(bytes: Buffer | undefined, complete: boolean): boolean {
    if (complete) {
      this.#connection = undefined;
      this.#setting.deadlines.delete(this);
    }
    if (bytes !== undefined) {
      this.#lastRead = this.#setting.deadlines.now;
      this.#anyBytes = true;
    }
    if (this.#closed) return this.#linger(bytes);
    if (this.#status >= 300) {
      if (bytes !== undefined) this.#hold(bytes);
      if (complete || this.held > ERROR_BODY_LIMIT) this.#fail(this.#statusError());
      return true;
    }
    this.#ended = complete;
    this.#lent = bytes;
    this.#flush();
    if (this.#lent !== undefined && !this.#closed) this.#hold(this.#lent);
    this.#lent = undefined;
    // A reader that pauses is read ahead of by one read at most.
    this.#stopped = this.#paused && this.held > 0;
    return !this.#stopped;
  }

  failed(error: Error, stale: boolean): void {
    this.#connection = undefined;
    this.#setting.deadlines.delete(this);
    if (!this.#closed) this.#fail(connectionError(error, this.#progress(stale)));
  }

  #hold(lent: Buffer): void {
    this.#held ??= new PendingReads();
    this.#held.add(lent);
  }

  #linger(bytes: Buffer | undefined): boolean {
    this.#lingered += bytes?.length ?? 0;
    if (this.#lingered > LINGER_BYTES) this.#abort();
    return true;
  }

  #readOn(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#connection?.resume();
  }

  #progress(stale: boolean): Progress {
    if (this.#status > 0) return 'answered';
    return stale ? 'stale' : 'waiting';
  }

  get held(): number {
    return this.#held?.bytes ?? 0;
  }

  // ── the clock's side ───────────────────────────────────────────────────────────────────────────

  expire(now: number): void {
    const { deadlines, limits } = this.#setting;
    // Every time noted may be a tick old; none may fire early for it.
    const sure = now - deadlines.tick;
    const silence = sure - this.#lastRead;
    if (this.#closed) {
      if (silence > LINGER_MS) this.#abort();
    } else if (sure - this.#begun > limits.total) this.#timeOut('total', limits.total);
    else if (!this.#sent) return;
    else if (!this.#anyBytes) {
      if (silence > limits.firstByte) this.#timeOut('first_byte', limits.firstByte);
    } else if (!this.#paused && silence > limits.idle) this.#timeOut('idle', limits.idle);
  }

  #timeOut(limit: Limit, milliseconds: number): void {
    this.#fail(timeoutError(limit, milliseconds));
  }

  // ── passing on ─────────────────────────────────────────────────────────────────────────────────

  #fail(error: EngineError): void {
    if (this.#ended || this.#error !== undefined) return;
    this.#error = error;
    if (this.#status >= 300) this.#held?.clear();
    this.#abort();
    this.#schedule();
  }

  #statusError(): EngineError {
    const { status, message } = this.#readError(this.#status, this.#held?.text(ERROR_BODY_LIMIT) ?? '');
    return statusError(status, this.#retryAfter, message, this.#status);
  }

  #abort(): void {
    this.#setting.deadlines.delete(this);
    this.#connection?.drop();
    this.#connection = undefined;
  }

  /** Failures and held bytes go on in a turn of their own: whoever calls for them is in the middle of something. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(flush, this);
  }

  flushScheduled(): void {
    this.#scheduled = false;
    this.#flush();
  }

  #flush(): void {
    if (this.#closed) return;
    const good = this.#status >= 200 && this.#status < 300;
    if (good && !this.#headSent) {
      this.#headSent = true;
      this.#reader.head(this);
    }
    if (good) this.#passOn();
    if (this.#closed || this.held > 0 || this.#lent !== undefined) return;
    if (this.#error !== undefined || this.#ended) this.#passEnd();
    else if (!this.#paused) this.#readOn();
  }

  /** What is held goes first. With everything it gets the reader may pause, or leave. */
  #passOn(): void {
    if (this.#held !== undefined) this.#passHeld(this.#held);
    const lent = this.#lent;
    if (lent === undefined || !this.#open) return;
    this.#lent = undefined;
    this.#reader.bytes(lent, this.#ended);
  }

  #passHeld(held: PendingReads): void {
    const reader = this.#reader;
    while (held.bytes > 0 && this.#open) held.pass((bytes) => reader.bytes(bytes, false));
  }

  /** The reader takes more. */
  get #open(): boolean {
    return !this.#paused && !this.#closed;
  }

  #passEnd(): void {
    this.#closed = true;
    this.#backpressure?.detach(this);
    if (this.#error !== undefined) this.#reader.error(this.#error);
    else this.#reader.end();
  }
}

const flush = (call: HttpCall): void => call.flushScheduled();
