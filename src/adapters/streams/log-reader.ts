/** One reader of a log: gets what it missed, then every event as it is written, at its own pace. */
import type { Subscriber } from 'rxjs';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import { goneBefore, type StreamText } from '../../ports/streams.ts';
import { endOfEvents } from './event-text.ts';
import type { Log } from './log.ts';
import type { Segment } from './segment.ts';

export class LogReader implements Pausable {
  readonly isCopy: boolean;
  readonly #log: Log;
  readonly #subscriber: Subscriber<StreamText>;
  #paused: boolean;
  #closed = false;
  /** Reads from disk, or emits. */
  #busy = false;
  /** Number of the event that it gets next. */
  #next: number;

  constructor(
    log: Log,
    subscriber: Subscriber<StreamText>,
    { paused }: Backpressure,
    { after, isCopy }: { readonly after: number; readonly isCopy: boolean },
  ) {
    this.isCopy = isCopy;
    this.#log = log;
    this.#subscriber = subscriber;
    this.#paused = paused;
    this.#next = after + 1;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.pump();
  }

  close(): void {
    this.#closed = true;
  }

  /** A text was added that begins with this event: a reader that has everything before it gets it at once. */
  grown(text: string, first: number): void {
    if (!this.#paused && !this.#busy && !this.#closed && this.#next === first) {
      const { next, written } = this.#log;
      this.#next = next;
      this.#busy = true;
      this.#subscriber.next(text);
      this.#busy = false;
      this.#has(written);
    }
    // It may be behind; and more may have come, or the end, while it was emitting.
    this.pump();
  }

  #has(offset: number): void {
    if (!this.isCopy) this.#log.readUntil(offset);
  }

  /** Emits segment by segment until it is paused or has everything. */
  pump(): void {
    while (!this.#busy && !this.#paused && !this.#closed) {
      const log = this.#log;
      if (this.#next >= log.next) {
        if (log.ended) this.#finish();
        return;
      }
      if (this.#next < log.first) {
        this.#subscriber.error(goneBefore(log.first));
        return;
      }
      const segment = log.segmentOf(this.#next);
      if (segment === undefined) {
        this.#subscriber.error(new Error('A part of the stream is missing'));
        return;
      }
      const bytes = segment.bytes();
      if (bytes instanceof Promise) {
        this.#load(segment, bytes);
        return;
      }
      this.#emit(segment, bytes);
    }
  }

  #load(segment: Segment, bytes: Promise<Buffer>): void {
    this.#busy = true;
    bytes.then(
      (loaded) => {
        this.#busy = false;
        if (this.#closed) return;
        this.#emit(segment, loaded);
        this.pump();
      },
      (error: unknown) => {
        this.#busy = false;
        this.#subscriber.error(error);
      },
    );
  }

  #emit({ first, count, end }: Segment, bytes: Buffer): void {
    const from = endOfEvents(bytes, this.#next - first);
    this.#next = first + count;
    this.#busy = true;
    this.#subscriber.next(from === 0 ? bytes : bytes.subarray(from));
    this.#busy = false;
    this.#has(end);
  }

  #finish(): void {
    const { error } = this.#log;
    if (error === undefined) this.#subscriber.complete();
    else this.#subscriber.error(error);
  }
}
