/** The log of one stream in this process: bounded, and written to disk when it is large. */
import { Observable } from 'rxjs';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { NewStream, StreamText } from '../../ports/streams.ts';
import { firstEvent } from './event-text.ts';
import { type LogBudget, logOverhead } from './log-budget.ts';
import { LogReader } from './log-reader.ts';
import { Segment } from './segment.ts';
import { blockBytes } from './spill-file.ts';

/** Bytes of a segment while memory is short. */
const tightBytes = 16 * 1024;

export class Log {
  readonly stream: NewStream;
  /** Number of the next event. */
  next = 0;
  /** Bytes so far. */
  written = 0;
  opening = '';
  /** The text that was added last. */
  closing = '';
  /** Its id was given out. */
  published = false;
  ended = false;
  error: unknown;
  /** When it ended, or was last read: milliseconds of `performance.now`. */
  touched = performance.now();
  paused = false;
  /** Times that it was full. */
  pauses = 0;
  /** Called when a spill fails. */
  onSpillFailed: (error: unknown) => void = () => {};
  /** Events that must be kept though they were read: a copy of them is under way. Bytes since the start. */
  holdFrom: number | undefined;
  readonly readers = new Set<LogReader>();
  readonly #budget: LogBudget;
  readonly #segments: Segment[] = [];
  #tail: string[] = [];
  #tailFirst = 0;
  #tailStart = 0;
  /** Bytes up to here were read by somebody. */
  #readUntil = 0;
  #spilling = false;
  #released = false;
  #dropped = false;

  constructor(stream: NewStream, budget: LogBudget) {
    this.stream = stream;
    this.#budget = budget;
    budget.use(stream.subscription, logOverhead);
  }

  /** Number of the first event that is kept. */
  get first(): number {
    return this.#segments[0]?.first ?? this.#tailFirst;
  }

  publish(): void {
    this.published = true;
    this.touched = performance.now();
  }

  append(text: string, count: number): void {
    if (this.ended || this.#released) return;
    if (this.next === 0) this.opening = firstEvent(text);
    const bytes = Buffer.byteLength(text);
    const first = this.next;
    this.closing = text;
    this.#tail.push(text);
    this.next += count;
    this.written += bytes;
    this.#budget.use(this.stream.subscription, bytes);
    for (const reader of this.readers) reader.grown(text, first);
    const most = this.#budget.isTight ? tightBytes : blockBytes;
    if (this.written - this.#tailStart >= most) this.seal();
    this.balance();
  }

  end(error?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.error = error;
    this.touched = performance.now();
    for (const reader of this.readers) reader.pump();
  }

  /** Clients that read it. */
  get attached(): number {
    let count = 0;
    for (const { isCopy } of this.readers) if (!isCopy) count++;
    return count;
  }

  /** `isCopy`: it is not a client that reads. */
  read(after: number, backpressure: Backpressure, isCopy = false): Observable<StreamText> {
    return new Observable((subscriber) => {
      const reader = new LogReader(this, subscriber, backpressure, { after, isCopy });
      this.readers.add(reader);
      backpressure.attach(reader);
      subscriber.add(() => {
        backpressure.detach(reader);
        reader.close();
        this.readers.delete(reader);
        if (!isCopy && !this.ended) this.touched = performance.now();
        if (this.#released) this.#drop();
      });
      reader.pump();
    });
  }

  /** A reader has everything before this byte. */
  readUntil(offset: number): void {
    if (offset <= this.#readUntil) return;
    this.#readUntil = offset;
    this.balance();
  }

  /** The same by the number of the next event, as far as that is known without reading the disk. */
  readUntilEvent(event: number): void {
    if (event >= this.next) this.readUntil(this.written);
    else if (event >= this.#tailFirst) this.readUntil(this.#tailStart);
    else this.readUntil(this.#segmentOfEvent(event)?.start ?? 0);
  }

  /** The sealed segment with an event; what is not sealed yet is. */
  segmentOf(event: number): Segment | undefined {
    if (event >= this.#tailFirst) this.seal();
    return this.#segmentOfEvent(event);
  }

  #segmentOfEvent(event: number): Segment | undefined {
    const segments = this.#segments;
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((segments[middle]?.first ?? 0) <= event) low = middle;
      else high = middle - 1;
    }
    const found = segments[low];
    return found !== undefined && event >= found.first && event < found.first + found.count
      ? found
      : undefined;
  }

  /** Makes one segment of the texts at the end. */
  seal(): void {
    if (this.#tail.length === 0) return;
    const place = {
      first: this.#tailFirst,
      count: this.next - this.#tailFirst,
      start: this.#tailStart,
      end: this.written,
    };
    this.#segments.push(new Segment(this.#budget, this.stream.subscription, place, this.#tail));
    this.#tail = [];
    this.#tailFirst = this.next;
    this.#tailStart = this.written;
    this.#spillOldest();
  }

  /** Cuts what is read and too much, and pauses the source while too much is not read. */
  balance(): void {
    const { streamBytes } = this.#budget.limits;
    const full = this.#budget.isFull(this.stream.subscription);
    this.#cut(full ? 0 : streamBytes / 2);
    if (this.ended) return;
    const unread = this.written - this.#readUntil;
    const held = this.written - (this.holdFrom ?? this.written);
    const most = full ? 0 : streamBytes / 2;
    const isFull = unread > most || held > streamBytes;
    if (isFull && !this.paused) {
      this.paused = true;
      this.pauses++;
      this.stream.source.pause();
    } else if (this.paused && unread <= most / 2 && held <= streamBytes / 2) {
      this.paused = false;
      this.stream.source.resume();
    }
  }

  #cut(mostRead: number): void {
    const until = Math.min(this.#readUntil, this.holdFrom ?? this.#readUntil);
    for (let oldest = this.#segments[0]; oldest !== undefined; oldest = this.#segments[0]) {
      if (oldest.end > until || this.#readUntil - oldest.start <= mostRead) return;
      this.#segments.shift();
      oldest.drop();
    }
  }

  /** One at a time: memory is returned when it is written. */
  #spillOldest(): void {
    const { limits } = this.#budget;
    if (this.#spilling || this.#released) return;
    const inMemory = this.#segments.filter((segment) => segment.inMemory);
    const bytes = inMemory.reduce((sum, { start, end }) => sum + end - start, 0);
    const [oldest] = inMemory;
    if (oldest === undefined || (bytes <= limits.spillBytes && !this.#budget.isTight)) return;
    this.#spilling = true;
    oldest.spill().then(
      () => {
        this.#spilling = false;
        this.#spillOldest();
      },
      // Tried again with the next segment; without room in memory the source is paused.
      (error: unknown) => {
        this.#spilling = false;
        this.onSpillFailed(error);
      },
    );
  }

  /** Memory is short: all of it goes to disk. */
  spillAll(): void {
    this.seal();
    this.#spillOldest();
  }

  /** Nobody finds it any more; its readers may read on. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.readers.size === 0) this.#drop();
  }

  #drop(): void {
    if (this.readers.size > 0 || this.#dropped) return;
    this.#dropped = true;
    const { subscription } = this.stream;
    for (const segment of this.#segments.splice(0)) segment.drop();
    this.#budget.use(subscription, -(this.written - this.#tailStart) - logOverhead);
    this.#tail = [];
    this.#tailFirst = this.next;
    this.#tailStart = this.written;
  }
}
