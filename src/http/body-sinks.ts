/** Pieces of a request body in; what one kind of reader makes of them out. */
import type { Subscriber } from 'rxjs';
import type { Backpressure } from '../ports/backpressure.ts';

export interface Sink {
  readonly paused: boolean;
  /** Bytes that it keeps. */
  readonly held: number;
  /** Lent memory is gone when this returns; with `last` when `end`, which follows at once, does. */
  piece(chunk: Uint8Array, lent: boolean, last: boolean): void;
  end(): void;
  error(error: unknown): void;
}

/** A body of known length: each piece is copied once, to its place. */
export class Fill implements Sink {
  readonly paused = false;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #length: number;
  /** The receiver does not keep what it gets. */
  readonly #lends: boolean;
  #target: Buffer | undefined;
  #at = 0;

  constructor(subscriber: Subscriber<Buffer>, length: number, lends: boolean) {
    this.#subscriber = subscriber;
    this.#length = length;
    this.#lends = lends;
  }

  get held(): number {
    return this.#target?.byteLength ?? 0;
  }

  piece(chunk: Uint8Array, lent: boolean, last: boolean): void {
    const stays = !lent || (this.#lends && last);
    if (stays && this.#target === undefined && chunk.byteLength === this.#length) {
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
  readonly #pieces: Uint8Array[] = [];

  constructor(subscriber: Subscriber<Buffer>) {
    this.#subscriber = subscriber;
  }

  get held(): number {
    return this.#pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  }

  piece(chunk: Uint8Array, lent: boolean): void {
    this.#pieces.push(lent ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.next(Buffer.concat(this.#pieces));
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}

/** The body as it comes. */
export class Pass implements Sink {
  readonly held = 0;
  readonly #subscriber: Subscriber<Buffer>;
  readonly #backpressure: Backpressure;

  constructor(subscriber: Subscriber<Buffer>, backpressure: Backpressure) {
    this.#subscriber = subscriber;
    this.#backpressure = backpressure;
  }

  get paused(): boolean {
    return this.#backpressure.paused;
  }

  piece(chunk: Uint8Array, lent: boolean): void {
    this.#subscriber.next(lent || !(chunk instanceof Buffer) ? Buffer.from(chunk) : chunk);
  }

  end(): void {
    this.#subscriber.complete();
  }

  error(error: unknown): void {
    this.#subscriber.error(error);
  }
}
