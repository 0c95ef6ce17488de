/** Readers of a request body: into one buffer of known length, gathered, or chunk by chunk. */
import type { Subscriber } from 'rxjs';
import type { Backpressure } from '../ports/backpressure.ts';

export interface Sink {
  readonly paused: boolean;
  /** Bytes in memory. */
  readonly buffered: number;
  /** A borrowed chunk is valid until this returns; the last one until `end`, which follows at once, does. */
  chunk(chunk: Uint8Array, borrowed: boolean, last: boolean): void;
  end(): void;
  error(error: unknown): void;
}

/** A body of known length: each chunk is copied once, to its offset. */
export class Fill implements Sink {
  readonly paused = false;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #length: number;
  /** The receiver does not keep the buffer, which may then be borrowed itself. */
  readonly #borrow: boolean;
  #target: Buffer | undefined;
  #at = 0;

  constructor(subscriber: Subscriber<Buffer>, length: number, borrow: boolean) {
    this.#subscriber = subscriber;
    this.#length = length;
    this.#borrow = borrow;
  }

  get buffered(): number {
    return this.#target?.byteLength ?? 0;
  }

  chunk(chunk: Uint8Array, borrowed: boolean, last: boolean): void {
    const usable = !borrowed || (this.#borrow && last);
    if (usable && this.#target === undefined && chunk.byteLength === this.#length) {
      this.#target =
        chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      return;
    }
    this.#target ??= Buffer.allocUnsafe(this.#length);
    this.#target.set(chunk, this.#at);
    this.#at += chunk.byteLength;
  }

  end(): void {
    this.#subscriber.next(this.#target ?? Buffer.alloc(0));
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}

/** A body of unknown length. */
export class Gather implements Sink {
  readonly paused = false;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #chunks: Uint8Array[] = [];

  constructor(subscriber: Subscriber<Buffer>) {
    this.#subscriber = subscriber;
  }

  get buffered(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  }

  chunk(chunk: Uint8Array, borrowed: boolean): void {
    this.#chunks.push(borrowed ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.next(Buffer.concat(this.#chunks));
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}

/** The body as it arrives. */
export class Pass implements Sink {
  readonly buffered = 0;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #backpressure: Backpressure;

  constructor(subscriber: Subscriber<Buffer>, backpressure: Backpressure) {
    this.#subscriber = subscriber;
    this.#backpressure = backpressure;
  }

  get paused(): boolean {
    return this.#backpressure.paused;
  }

  chunk(chunk: Uint8Array, borrowed: boolean): void {
    this.#subscriber.next(borrowed || !(chunk instanceof Buffer) ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}
