/** The log of one stream in this process: bounded, and written to disk when it is large. */
import { Observable } from 'rxjs';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { NewStream, StreamSource, StreamText } from '../../ports/streams.ts';
import { encoded, firstEvent, lastEvent } from './event-text.ts';
import { type LogBudget, logOverhead } from './log-budget.ts';
import { LogReader } from './log-reader.ts';
import { Segment } from './segment.ts';

export class Log {
  readonly stream: Omit<NewStream, 'source'>;
  /** While it writes: an ended log keeps nothing of its request. */
  source: StreamSource | undefined;
  /** Number of the next event. */
  next = 0;
  /** Bytes so far. */
  written = 0;
  opening = '';
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
  /** Events are added to the last one. */
  readonly #segments: Segment[] = [];
  /** Bytes up to here were read by somebody. */
  #readUntil = 0;
  #spilling = false;
  #released = false;
  #dropped = false;

  constructor({ source, ...stream }: NewStream, budget: LogBudget) {
    this.source = source;
    this.stream = stream;
    this.#budget = budget;
    budget.use(stream.subscription, logOverhead);
  }

  /** Number of the first event that is kept. */
  get first(): number {
    return this.#segments[0]?.first ?? this.next;
  }

  publish(): void {
    this.published = true;
    this.touched = performance.now();
  }

  append(text: string, count: number): void {
    if (this.ended || this.#released) return;
    if (this.next === 0) this.opening = firstEvent(text);
    const first = this.next;
    this.#write(encoded(text), count);
    for (const reader of this.readers) reader.grown(text, first);
    this.balance();
  }

  #write(bytes: Uint8Array, count: number): void {
    let last = this.#segments.at(-1);
    if (last?.add(bytes, count) !== true) {
      const place = { first: this.next, start: this.written };
      last = new Segment(this.#budget, this.stream.subscription, place, bytes.length);
      last.add(bytes, count);
      this.#segments.push(last);
      this.#spillOldest();
    }
    this.next += count;
    this.written = last.end;
  }

  end(error?: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.source = undefined;
    this.error = error;
    this.touched = performance.now();
    for (const reader of this.readers) reader.pump();
  }

  /** Its last event. */
  async closing(): Promise<string> {
    const bytes = await this.#segments.at(-1)?.bytes();
    return bytes === undefined ? '' : lastEvent(bytes.toString());
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
    else this.readUntil(this.segmentOf(event)?.start ?? 0);
  }

  /** The one with this event. */
  segmentOf(event: number): Segment | undefined {
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

  /** Cuts what is read and too much, and pauses the source while too much is not read. */
  balance(): void {
    const { streamBytes } = this.#budget.limits;
    const full = this.#budget.isFull(this.stream.subscription);
    this.#cut(full ? 0 : streamBytes / 2);
    if (this.ended) return;
    const unread = this.written - this.#readUntil;
    const held = this.written - (this.holdFrom ?? this.written);
    const { isShort } = this.#budget;
    const most = full || isShort ? 0 : streamBytes / 2;
    // What was read is not cut for want of memory: it is on its way to disk, and its client may come back for it.
    const waits = isShort && this.#spilling;
    if (!this.paused && (unread > most || held > streamBytes || waits)) {
      this.paused = true;
      this.pauses++;
      this.source?.pause();
    } else if (this.paused && unread <= most / 2 && held <= streamBytes / 2 && !waits) {
      this.paused = false;
      this.source?.resume();
    }
  }

  #cut(mostRead: number): void {
    const until = Math.min(this.#readUntil, this.holdFrom ?? this.#readUntil);
    for (let oldest = this.#segments[0]; oldest !== undefined; oldest = this.#segments[0]) {
      if (this.#segments.length === 1) return;
      if (oldest.end > until || this.#readUntil - oldest.start <= mostRead) return;
      this.#segments.shift();
      oldest.drop();
    }
  }

  /** One at a time: memory is returned when it is written. The last segment stays, unless all is to go. */
  #spillOldest(all = false): void {
    const { limits } = this.#budget;
    if (this.#spilling || this.#released) return;
    const inMemory = this.#segments.filter(({ memory }) => memory > 0);
    const bytes = inMemory.reduce((sum, { memory }) => sum + memory, 0);
    const [oldest] = inMemory;
    if (oldest === undefined || (bytes <= limits.spillBytes && !this.#budget.isTight)) return;
    if (!all && oldest === this.#segments.at(-1)) return;
    this.#spilling = true;
    oldest.spill().then(
      () => {
        this.#spilled(true);
        this.#spillOldest(all);
        this.balance();
      },
      // Tried again with the next segment.
      (error: unknown) => {
        this.#spilled(false);
        this.onSpillFailed(error);
        this.balance();
      },
    );
  }

  #spilled(isWritten: boolean): void {
    this.#spilling = false;
    this.#budget.spills = isWritten;
  }

  /** Memory is short: all of it goes to disk. */
  spillAll(): void {
    this.#spillOldest(true);
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
    this.#budget.use(subscription, -logOverhead);
  }
}
