/** Appends events to the journal in order, with one write per tick of the event loop. */
import { closeSync, fdatasync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { type ApiError, fail } from '../../errors.ts';
import type { Damage } from './damage.ts';
import { LineEncoder } from './line.ts';
import { createReserve } from './reserve.ts';
import { type Cursor, listSegments, mendTail, segmentBytes, segmentPath } from './segments.ts';

/**
 * When bytes are forced from the system's memory to the disk. All three survive the death of the process:
 * `none` leaves the disk to the system, `interval` loses at most that many milliseconds in a power cut, `always` nothing.
 */
export type SyncPolicy = 'none' | 'always' | { readonly intervalMs: number };

export interface JournalOptions<Entry> {
  readonly folder: string;
  readonly log: Logger;
  readonly damage: Damage;
  readonly sync: SyncPolicy;
  /** The JSON of what is appended. */
  readonly json: (entry: Entry) => string;
  /** A segment is closed and the next begun past this size. */
  readonly segmentBytes?: number;
  /** Bytes that may wait for shipping; past it `ensureOpen` refuses new billable work. */
  readonly maxBytes?: number;
  /** Room kept for the usage of requests that are running when the disk fills up. */
  readonly reserveBytes?: number;
  /** Called after each write with its place and its lines, which the next one overwrites. */
  readonly written?: (place: Cursor, lines: Buffer, entries: readonly Entry[]) => void;
  /** How bytes reach a file; for tests of disks that refuse them. */
  readonly write?: (file: number, bytes: Buffer, offset: number) => number;
}

interface Waiting<Entry> {
  readonly entry: Entry;
  readonly subscriber: Subscriber<void>;
}

/** Milliseconds between looks whether a disk takes writes again. */
const recoveryPause = 1000;

export class JournalWriter<Entry> {
  readonly #options: JournalOptions<Entry>;
  readonly #segmentLimit: number;
  readonly #maxBytes: number;
  readonly #reserve: ReturnType<typeof createReserve>;
  readonly #lines = new LineEncoder();
  readonly #writeBytes: NonNullable<JournalOptions<Entry>['write']>;
  #syncTimer: NodeJS.Timeout | undefined;
  #file: number;
  #segment: number;
  #offset = 0;
  /** Bytes of closed segments not yet shipped and removed. */
  #closedBytes: number;
  /** Not yet written. */
  #waiting: Waiting<Entry>[] = [];
  /** Written, and to be notified once they are synced. */
  #unsynced: Waiting<Entry>[] = [];
  #dirty = false;
  #syncing = false;
  #scheduled = false;
  #closed = false;
  /** The file may be longer than `offset`, by what a failed write left. */
  #torn = false;
  #trouble: unknown;
  #nextLook = 0;

  constructor(options: JournalOptions<Entry>) {
    this.#options = options;
    const { folder, damage } = options;
    this.#maxBytes = options.maxBytes ?? 1024 * 1024 * 1024;
    // Far below the bound: the last segment stays when all is shipped, and must not fill it.
    this.#segmentLimit = Math.min(options.segmentBytes ?? 16 * 1024 * 1024, this.#maxBytes / 8);
    this.#writeBytes = options.write ?? writeSync;
    mkdirSync(folder, { recursive: true });
    const segments = listSegments(folder);
    const last = segments.at(-1);
    if (last !== undefined) mendTail(folder, last, damage);
    this.#closedBytes = segments.reduce((sum, segment) => sum + segmentBytes(folder, segment), 0);
    this.#segment = (last ?? 0) + 1;
    this.#file = openSync(segmentPath(folder, this.#segment), 'a');
    this.#reserve = createReserve(options.folder, options.reserveBytes ?? 4 * 1024 * 1024);
    try {
      this.#reserve.take();
    } catch (error) {
      this.#troubled(error);
    }
  }

  /** Everything before this place is written and may be shipped. */
  get end(): Cursor {
    return { segment: this.#segment, offset: this.#offset };
  }

  /** Emits and completes once the event is kept. Unsubscribing does not undo what a subscription recorded. */
  append(entry: Entry): Observable<void> {
    return new Observable((subscriber) => {
      if (this.#closed) throw refusal(new Error('the journal is closed'));
      this.#waiting.push({ entry, subscriber });
      if (this.#scheduled) return;
      this.#scheduled = true;
      setImmediate(this.#flush);
    });
  }

  /** No room for what could be left out: the disk or the bound is reached. */
  get short(): boolean {
    return this.#trouble !== undefined || this.#overBound;
  }

  get #overBound(): boolean {
    return this.#closedBytes + this.#offset > this.#maxBytes;
  }

  ensureOpen(): void {
    if (this.#trouble !== undefined && !this.#recovered()) throw refusal(this.#trouble);
    if (this.#overBound)
      throw fail('unavailable', 'Usage cannot be recorded at the moment: too much waits to be shipped');
  }

  /** The shipper removed a segment. */
  released(bytes: number): void {
    this.#closedBytes -= bytes;
  }

  /** Everything appended before is written and synced first. */
  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    clearTimeout(this.#syncTimer);
    if (this.#options.sync !== 'none') fdatasyncSync(this.#file);
    for (const waiting of this.#unsynced.splice(0)) kept(waiting);
    // A sync that still runs closes the file at its end.
    if (!this.#syncing) closeSync(this.#file);
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    const batch = this.#waiting;
    if (batch.length === 0) return;
    this.#waiting = [];
    try {
      this.#writeOrMakeRoom(batch);
    } catch (error) {
      for (const { subscriber } of batch) subscriber.error(refusal(error));
      return;
    }
    this.#dirty = true;
    if (this.#options.sync === 'always') {
      this.#unsynced.push(...batch);
      this.#sync();
      return;
    }
    for (const waiting of batch) kept(waiting);
    if (this.#options.sync === 'none') {
      const full = this.#nextSegment();
      if (full !== undefined) closeSync(full);
    } else this.#syncSoon();
  };

  /** What is running may still be recorded when the disk is full; nothing new is begun then. */
  #writeOrMakeRoom(batch: readonly Waiting<Entry>[]): void {
    const entries = batch.map(({ entry }) => entry);
    const bytes = this.#lines.encode(entries, this.#options.json);
    const { end } = this;
    try {
      this.#write(bytes);
    } catch (error) {
      this.#troubled(error);
      this.#reserve.release();
      this.#write(bytes);
    }
    this.#options.written?.(end, bytes, entries);
  }

  #write(bytes: Buffer): void {
    if (this.#torn) this.#cutTorn();
    let written = 0;
    try {
      while (written < bytes.length) written += this.#writeBytes(this.#file, bytes, written);
    } catch (error) {
      // A full disk may take half a line: it is cut off, so that what follows stays readable.
      this.#torn = true;
      this.#cutTorn();
      throw error;
    }
    this.#offset += written;
  }

  #cutTorn(): void {
    ftruncateSync(this.#file, this.#offset);
    this.#torn = false;
  }

  /** Begins the next segment when this one is full, and gives the file of the full one. */
  #nextSegment(): number | undefined {
    if (this.#offset < this.#segmentLimit || this.#closed) return undefined;
    const full = this.#file;
    try {
      this.#file = openSync(segmentPath(this.#options.folder, this.#segment + 1), 'a');
    } catch (error) {
      this.#troubled(error); // this one grows on
      return undefined;
    }
    this.#closedBytes += this.#offset;
    this.#segment++;
    this.#offset = 0;
    return full;
  }

  /** The timer starts with the first write after a sync: an idle process is not woken. */
  #syncSoon(): void {
    const { sync } = this.#options;
    if (typeof sync !== 'object' || this.#closed) return;
    this.#syncTimer ??= setTimeout(() => {
      this.#syncTimer = undefined;
      this.#sync();
    }, sync.intervalMs).unref();
  }

  /** One at a time; what is written meanwhile waits for the next. */
  #sync(): void {
    if (this.#syncing || !this.#dirty) return;
    const batch = this.#unsynced;
    const file = this.#file;
    this.#unsynced = [];
    this.#dirty = false;
    const full = this.#nextSegment();
    this.#syncing = true;
    fdatasync(file, (error) => {
      this.#syncing = false;
      if (error !== null) this.#troubled(error);
      if (full !== undefined) closeSync(full);
      if (this.#closed) closeSync(this.#file);
      for (const waiting of batch) error === null ? kept(waiting) : waiting.subscriber.error(refusal(error));
      if (this.#unsynced.length > 0) this.#sync();
      else if (this.#dirty) this.#syncSoon();
    });
  }

  #troubled(error: unknown): void {
    if (this.#trouble === undefined)
      this.#options.log.error(
        { err: error },
        'journal write failed; billable requests are refused until it recovers',
      );
    this.#trouble = error;
    this.#nextLook = 0;
  }

  /** The disk takes writes again when it takes the reserve. */
  #recovered(): boolean {
    const now = Date.now();
    if (now < this.#nextLook) return false;
    try {
      this.#reserve.take();
    } catch (error) {
      this.#trouble = error;
      this.#nextLook = now + recoveryPause;
      return false;
    }
    this.#trouble = undefined;
    this.#options.log.warn('journal recovered');
    return true;
  }
}

const kept = ({ subscriber }: Waiting<unknown>): void => {
  subscriber.next();
  subscriber.complete();
};

const refusal = (cause: unknown): ApiError =>
  fail('unavailable', 'Usage cannot be recorded at the moment', { cause });
