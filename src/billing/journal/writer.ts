/** Events in; each is on disk, in the order it came, when its Observable emits. One write for all that came in one turn of the loop. */
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import type { Logger } from 'pino';
import { Observable } from 'rxjs';
import { fail } from '../../errors.ts';
import { encodeLine } from './line.ts';
import { type Cursor, listSegments, mendTail, segmentBytes, segmentPath } from './segments.ts';

/**
 * When bytes are forced from the system's memory to the disk. All three survive the death of the process:
 * `none` leaves the disk to the system, `interval` loses at most that many milliseconds in a power cut, `always` nothing.
 */
export type SyncPolicy = 'none' | 'always' | { readonly intervalMs: number };

export interface JournalOptions {
  readonly folder: string;
  readonly log: Logger;
  readonly sync: SyncPolicy;
  /** A segment is closed and the next begun past this size. */
  readonly segmentBytes?: number;
  /** Bytes that may wait for shipping; past it `ensureOpen` refuses new billable work. */
  readonly maxBytes?: number;
}

interface Waiting {
  readonly line: string;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class JournalWriter {
  readonly #folder: string;
  readonly #log: Logger;
  readonly #sync: SyncPolicy;
  readonly #segmentLimit: number;
  readonly #maxBytes: number;
  readonly #syncTimer: NodeJS.Timeout | undefined;
  #file: number;
  #segment: number;
  #offset = 0;
  /** Bytes of closed segments not yet shipped and removed. */
  #closedBytes: number;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #unsynced = false;
  #trouble: unknown;

  constructor(options: JournalOptions) {
    this.#folder = options.folder;
    this.#log = options.log;
    this.#sync = options.sync;
    this.#segmentLimit = options.segmentBytes ?? 16 * 1024 * 1024;
    this.#maxBytes = options.maxBytes ?? 1024 * 1024 * 1024;
    mkdirSync(this.#folder, { recursive: true });
    const segments = listSegments(this.#folder);
    const last = segments.at(-1);
    if (last !== undefined) {
      const torn = mendTail(this.#folder, last);
      if (torn > 0) this.#log.warn({ segment: last, bytes: torn }, 'journal: cut a torn last line');
    }
    this.#closedBytes = segments.reduce((sum, segment) => sum + segmentBytes(this.#folder, segment), 0);
    this.#segment = (last ?? 0) + 1;
    this.#file = openSync(segmentPath(this.#folder, this.#segment), 'a');
    if (typeof this.#sync === 'object') {
      this.#syncTimer = setInterval(() => this.#syncSoon(), this.#sync.intervalMs);
      this.#syncTimer.unref();
    }
  }

  /** Everything before this place is written and may be shipped. */
  get end(): Cursor {
    return { segment: this.#segment, offset: this.#offset };
  }

  /** Emits and completes once the event is kept. Recording happens on subscription and is not undone by leaving. */
  append(json: string): Observable<void> {
    return new Observable((subscriber) => {
      this.#waiting.push({
        line: encodeLine(json),
        done: () => {
          subscriber.next();
          subscriber.complete();
        },
        failed: (error) => subscriber.error(error),
      });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(() => this.#flush());
    });
  }

  ensureOpen(): void {
    if (this.#trouble !== undefined && !this.#recovered())
      throw fail('unavailable', 'Usage cannot be recorded at the moment', { cause: this.#trouble });
    if (this.#closedBytes + this.#offset > this.#maxBytes)
      throw fail('unavailable', 'Usage cannot be recorded at the moment: too much waits to be shipped');
  }

  /** The shipper removed a segment. */
  released(bytes: number): void {
    this.#closedBytes -= bytes;
  }

  close(): void {
    clearInterval(this.#syncTimer);
    this.#flush();
    if (this.#sync !== 'none') fdatasyncSync(this.#file);
    closeSync(this.#file);
  }

  #flush(): void {
    this.#scheduled = false;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    try {
      this.#write(batch);
    } catch (error) {
      this.#trouble = error;
      this.#log.error({ err: error }, 'journal: cannot write; billable requests are refused until it can');
      const refusal = fail('unavailable', 'Usage cannot be recorded at the moment', { cause: error });
      for (const waiting of batch) waiting.failed(refusal);
      return;
    }
    if (this.#sync !== 'always') {
      for (const waiting of batch) waiting.done();
      return;
    }
    fdatasync(this.#file, (error) => {
      for (const waiting of batch) error === null ? waiting.done() : waiting.failed(error);
    });
  }

  #write(batch: readonly Waiting[]): void {
    if (this.#offset >= this.#segmentLimit) this.#rotate();
    let text = '';
    for (const waiting of batch) text += waiting.line;
    const bytes = Buffer.from(text);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#file, bytes, written);
    } catch (error) {
      // A full disk may take half a line: cut it off, so that what follows stays readable.
      ftruncateSync(this.#file, this.#offset);
      throw error;
    }
    this.#offset += written;
    this.#unsynced = true;
  }

  #rotate(): void {
    const next = openSync(segmentPath(this.#folder, this.#segment + 1), 'a');
    if (this.#sync !== 'none') fdatasyncSync(this.#file);
    closeSync(this.#file);
    this.#closedBytes += this.#offset;
    this.#file = next;
    this.#segment++;
    this.#offset = 0;
  }

  #syncSoon(): void {
    if (!this.#unsynced) return;
    this.#unsynced = false;
    fdatasync(this.#file, (error) => {
      if (error !== null && error.code !== 'EBADF') this.#log.error({ err: error }, 'journal: cannot sync');
    });
  }

  /** After trouble, one empty probe line tells whether the disk takes writes again. */
  #recovered(): boolean {
    try {
      this.#write([{ line: encodeLine('null'), done: () => {}, failed: () => {} }]);
    } catch (error) {
      this.#trouble = error;
      return false;
    }
    this.#trouble = undefined;
    this.#log.warn('journal: writes again');
    return true;
  }
}
