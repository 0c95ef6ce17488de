/** Reads the log of a stream that another gateway writes from Redis, and follows it. */
import type { Subscriber } from 'rxjs';
import { fail } from '../../errors.ts';
import type { Backpressure, Pausable } from '../../ports/backpressure.ts';
import { goneBefore, type LastEvents, type StreamText } from '../../ports/streams.ts';
import { afterEvents } from './event-text.ts';
import type { RedisStore, StreamRecord } from './redis-store.ts';

export interface ReaderParts {
  readonly store: RedisStore;
  readonly instance: string;
  readonly lost: LastEvents;
  readonly onLost: () => void;
  /** Resolves when a stream has grown, or after so many milliseconds. */
  readonly grown: (id: string, milliseconds: number) => Promise<void>;
}

/** Between looks at a stream that does not grow; its gateway knows by them that somebody reads. */
export const pollMs = 500;

export class RedisReader implements Pausable {
  readonly #parts: ReaderParts;
  readonly #id: string;
  readonly #subscriber: Subscriber<StreamText>;
  /** Numbers of the first event that it wants, and of the one that it gets next. */
  readonly #from: number;
  #next: number;
  #paused: boolean;
  #closed = false;
  #onResume: () => void = () => {};

  constructor(
    parts: ReaderParts,
    id: string,
    after: number,
    subscriber: Subscriber<StreamText>,
    { paused }: Backpressure,
  ) {
    this.#parts = parts;
    this.#id = id;
    this.#from = after + 1;
    this.#next = this.#from;
    this.#subscriber = subscriber;
    this.#paused = paused;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#onResume();
  }

  close(): void {
    this.#closed = true;
    this.#onResume();
  }

  async run(): Promise<void> {
    try {
      while (!this.#closed) if (!(await this.#round())) return;
    } catch (error) {
      if (!this.#closed) this.#subscriber.error(error);
    }
  }

  /** False: there is no more. */
  async #round(): Promise<boolean> {
    const { store, grown } = this.#parts;
    // Before the entries: if it has ended by then, those are all.
    const record = await store.record(this.#id);
    if (record !== undefined && missesLoss(record, this.#from)) {
      if (await this.#ready()) this.#emitLoss(record);
      return false;
    }
    const entries = await store.entries(this.#id, this.#next);
    for (const { first, next, text } of entries) {
      if (!(await this.#ready())) return false;
      if (first > this.#next) throw goneBefore(first);
      this.#subscriber.next(afterEvents(text, this.#next - first));
      this.#next = next;
    }
    if (record !== undefined)
      store.send(record.holder, `read ${this.#id} ${this.#next} ${this.#parts.instance}`);
    if (entries.length > 0) return true;
    if (record === undefined) throw fail('not_found', 'The stream is no longer kept');
    if (record.ended) {
      this.#subscriber.complete();
      return false;
    }
    if (await loseIfDead(this.#parts, this.#id, record)) return true;
    await grown(this.#id, pollMs);
    return true;
  }

  #emitLoss({ opening }: StreamRecord): void {
    this.#subscriber.next(this.#parts.lost(opening, this.#next).text);
    this.#subscriber.complete();
  }

  /** False: the reader is gone. */
  async #ready(): Promise<boolean> {
    while (this.#paused && !this.#closed)
      await new Promise<void>((resolve) => {
        this.#onResume = resolve;
      });
    return !this.#closed;
  }
}

/**
 * Its client read events on the gateway that died which never reached Redis: it still has to learn of the failure. One
 * that has as many events as the log counts as a reader of its end.
 */
export const missesLoss = ({ lostFrom, next }: StreamRecord, from: number): boolean =>
  lostFrom !== undefined && from > lostFrom && from !== next;

/** Ends a stream whose gateway has died; true: it has ended. */
export const loseIfDead = async (
  { store, lost, onLost }: Pick<ReaderParts, 'store' | 'lost' | 'onLost'>,
  id: string,
  record: StreamRecord,
): Promise<boolean> => {
  if (await store.isAlive(record.holder)) return false;
  if (await store.lose(id, record, lost(record.opening, record.next))) onLost();
  return true;
};
