/** One HTTP call: passes the response from its connection to its reader, with backpressure and time limits. */
import { unindexed } from '../../helpers/indexed-list.ts';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import type { CallSetting, EngineCall, EngineHead, EngineReader, ReadError } from '../engine-call.ts';
import {
  connectionError,
  type EngineError,
  type Limit,
  type Progress,
  statusError,
  timeoutError,
} from '../engine-error.ts';
import type { Connection, ResponseHandler } from './connection.ts';
import type { Expiring } from './deadlines.ts';
import { PendingReads } from './pending-reads.ts';
import type { ResponseHead } from './response-head.ts';

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
  /** Absent before the call is sent and after its response was read. */
  #connection: Connection | undefined;
  #sent = false;
  #status = 0;
  #retryAfter: string | undefined;
  #anyBytes = false;
  #headSent = false;
  /** The latest read, in the buffer that the next one overwrites. */
  #borrowed: Buffer | undefined;
  /** Copies of what could not be passed on at once; most calls have none. */
  #pending: PendingReads | undefined;
  /** The reader requested a pause. */
  #paused = false;
  /** The connection is paused. */
  #stopped = false;
  #scheduled = false;
  #ended = false;
  #error: EngineError | undefined;
  #settled = false;
  /** The reader gets nothing more. */
  #closed = false;
  #lingered = 0;

  /** Without backpressure the reader takes everything as it comes. */
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

  /** Also before the call was sent; a settled response is drained. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending?.clear();
    this.#backpressure?.detach(this);
    if (this.#ended || this.#error !== undefined) return;
    if (this.#settled) {
      this.#lastRead = this.#setting.deadlines.now;
      this.#readOn();
    } else this.#abort();
  }

  // ── the connection's side ──────────────────────────────────────────────────────────────────────

  /** Where it is sent, or will be once the connection is established. */
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
      if (bytes !== undefined) this.#keep(bytes);
      if (complete || this.pendingBytes > ERROR_BODY_LIMIT) this.#fail(this.#statusError());
      return true;
    }
    this.#ended = complete;
    this.#borrowed = bytes;
    this.#flush();
    if (this.#borrowed !== undefined && !this.#closed) this.#keep(this.#borrowed);
    this.#borrowed = undefined;
    // A paused reader is at most one read behind.
    this.#stopped = this.#paused && this.pendingBytes > 0;
    return !this.#stopped;
  }

  failed(error: Error, stale: boolean): void {
    this.#connection = undefined;
    this.#setting.deadlines.delete(this);
    if (!this.#closed) this.#fail(connectionError(error, this.#progress(stale)));
  }

  #keep(borrowed: Buffer): void {
    this.#pending ??= new PendingReads();
    this.#pending.add(borrowed);
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
    if (stale) return 'stale';
    return this.#sent ? 'waiting' : 'unsent';
  }

  get pendingBytes(): number {
    return this.#pending?.bytes ?? 0;
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
    if (this.#status >= 300) this.#pending?.clear();
    this.#abort();
    this.#schedule();
  }

  #statusError(): EngineError {
    const { status, message } = this.#readError(this.#status, this.#pending?.text(ERROR_BODY_LIMIT) ?? '');
    return statusError(status, this.#retryAfter, message, this.#status);
  }

  #abort(): void {
    this.#setting.deadlines.delete(this);
    this.#connection?.drop();
    this.#connection = undefined;
  }

  /** Failures and pending reads are passed on in a tick of their own, never inside the caller. */
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
    if (this.#closed || this.pendingBytes > 0 || this.#borrowed !== undefined) return;
    if (this.#error !== undefined || this.#ended) this.#passEnd();
    else if (!this.#paused) this.#readOn();
  }

  /** Pending reads first. The reader may pause or close with each. */
  #passOn(): void {
    if (this.#pending !== undefined) this.#passPending(this.#pending);
    const borrowed = this.#borrowed;
    if (borrowed === undefined || !this.#open) return;
    this.#borrowed = undefined;
    this.#reader.bytes(borrowed, this.#ended);
  }

  #passPending(pending: PendingReads): void {
    const reader = this.#reader;
    while (pending.bytes > 0 && this.#open) pending.pass((bytes) => reader.bytes(bytes, false));
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
