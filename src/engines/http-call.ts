/** One HTTP call's events, as undici tells them, in; the answer's head and its bytes, joined per turn of the event loop, out. */
import type { Dispatcher } from 'undici';
import type { Demand, DemandListener } from '../ports/demand.ts';
import type { Deadlines, Expiring } from './deadlines.ts';
import {
  connectionError,
  type EngineError,
  type Limit,
  type Progress,
  statusError,
  timeoutError,
} from './engine-error.ts';

/** Takes an answer: one head, buffers that are its own to keep, an end; or an error at any point, and nothing after it. */
export interface EngineReader {
  head(head: EngineHead): void;
  bytes(bytes: Buffer): void;
  end(): void;
  error(error: EngineError): void;
}

/** The head of a good answer. The reader of an answer that obeys no demand may pause it by itself. */
export interface EngineHead extends DemandListener {
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

/** Shared by the calls to one replica. undici starts a call on a new connection in the same breath as it tells of it. */
export interface Connections {
  fresh: boolean;
}

export interface CallSetting {
  readonly reader: EngineReader;
  readonly limits: CallLimits;
  readonly deadlines: Deadlines;
  readonly connections: Connections;
  /** Absent: the reader takes everything as it comes. */
  readonly demand: Demand | undefined;
  /** The engine's own sentence in the body of an error answer. */
  explain(body: string): string | undefined;
}

/** What may be read ahead of the reader. */
const HELD_LIMIT = 64 * 1024;
const ERROR_BODY_LIMIT = 64 * 1024;
const LINGER_BYTES = 64 * 1024;
const LINGER_MS = 1000;

/**
 * undici's older handler methods are the ones its parser itself calls; the newer ones go through a wrapper that also
 * makes an object of the headers, at some 4 µs a call.
 */
export class HttpCall
  implements Dispatcher.DispatchHandler, DemandListener, Expiring, EngineHead, EngineCall
{
  contentType = '';
  readonly #setting: CallSetting;
  readonly #begun: number;
  #lastRead: number;
  #abortRequest: ((reason: Error) => void) | undefined;
  #resumeParser: (() => void) | undefined;
  #reused = false;
  #answering = false;
  #status = 0;
  #retryAfter: string | undefined;
  #anyBytes = false;
  #headSent = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The reader asked for a pause. */
  #paused = false;
  /** undici was told to stop reading. */
  #stopped = false;
  #scheduled = false;
  #ended = false;
  #error: EngineError | undefined;
  #settled = false;
  /** Nobody listens any more. */
  #closed = false;
  #lingered = 0;

  constructor(setting: CallSetting) {
    this.#setting = setting;
    setting.deadlines.add(this);
    this.#begun = setting.deadlines.now;
    this.#lastRead = this.#begun;
    setting.demand?.attach(this);
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
    this.#setting.demand?.detach(this);
    if (this.#ended || this.#error !== undefined) return;
    if (this.#settled) {
      this.#lastRead = this.#setting.deadlines.now;
      this.#readOn();
    } else this.#abort();
  }

  // ── undici's side ──────────────────────────────────────────────────────────────────────────────

  onConnect(abort: (reason?: Error) => void): void {
    const { connections, deadlines } = this.#setting;
    this.#abortRequest = abort;
    this.#reused = !connections.fresh;
    connections.fresh = false;
    this.#lastRead = deadlines.now;
    if (this.#closed || this.#error !== undefined) this.#abort();
  }

  /** The first byte of a head has come: from here on the connection was no stale one. */
  onResponseStarted(): void {
    this.#answering = true;
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#status = status;
    this.#resumeParser = resume;
    this.contentType = headerOf(headers, 'content-type');
    if (status >= 300) this.#retryAfter = headerOf(headers, 'retry-after');
    this.#schedule();
    return this.#goOn();
  }

  onData(bytes: Buffer): boolean {
    this.#lastRead = this.#setting.deadlines.now;
    this.#anyBytes = true;
    if (this.#closed) {
      this.#lingered += bytes.length;
      if (this.#lingered > LINGER_BYTES) this.#abort();
      return true;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#status >= 300) {
      if (this.#heldBytes > ERROR_BODY_LIMIT) this.#fail(this.#statusError());
      return true;
    }
    this.#schedule();
    return this.#goOn();
  }

  onComplete(): void {
    this.#setting.deadlines.delete(this);
    if (this.#closed) return;
    if (this.#status >= 300) this.#fail(this.#statusError());
    else this.#ended = true;
    this.#schedule();
  }

  onError(error: Error): void {
    this.#setting.deadlines.delete(this);
    if (!this.#closed) this.#fail(connectionError(error, this.#progress()));
  }

  #goOn(): boolean {
    this.#stopped = this.#paused || this.#heldBytes >= HELD_LIMIT;
    return !this.#stopped;
  }

  #readOn(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#resumeParser?.();
  }

  #progress(): Progress {
    if (this.#status > 0) return 'answered';
    return this.#reused && !this.#answering ? 'stale' : 'waiting';
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
    else if (this.#abortRequest === undefined) return;
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
    if (this.#status >= 300) {
      this.#held = [];
      this.#heldBytes = 0;
    }
    this.#abort();
    this.#schedule();
  }

  #statusError(): EngineError {
    const body = Buffer.concat(this.#held).toString('utf8', 0, ERROR_BODY_LIMIT);
    return statusError(this.#status, this.#retryAfter, this.#setting.explain(body));
  }

  #abort(): void {
    this.#setting.deadlines.delete(this);
    this.#abortRequest?.(new Error('The call was given up'));
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
    const good = this.#status >= 200 && this.#status < 300;
    if (good && !this.#headSent) {
      this.#headSent = true;
      this.#setting.reader.head(this);
    }
    if (good && this.#heldBytes > 0 && !this.#paused && !this.#closed) this.#passOn();
    if (this.#closed || this.#heldBytes > 0) return;
    if (this.#error !== undefined) this.#setting.reader.error(this.#error);
    else if (this.#ended) this.#setting.reader.end();
    else if (!this.#paused) this.#readOn();
  }

  #passOn(): void {
    const held = this.#held;
    const bytes = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    this.#setting.reader.bytes(bytes);
  }
}

const flush = (call: HttpCall): void => call.flush();

/** Names and values by turns, as they came. */
const headerOf = (headers: readonly Buffer[], name: string): string => {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const key = headers[index];
    if (key?.length === name.length && key.toString('latin1').toLowerCase() === name) {
      return headers[index + 1]?.toString('latin1') ?? '';
    }
  }
  return '';
};
