/** Readers of a request body: into one buffer of known length, gathered, or chunk by chunk. */
import type { Subscriber } from 'rxjs';
import { JoinedBytes } from '../../helpers/joined-bytes.ts';
import type { Backpressure } from '../../ports/backpressure.ts';

export abstract class Sink {
  protected readonly subscriber: Subscriber<Buffer>;

  constructor(subscriber: Subscriber<Buffer>) {
    this.subscriber = subscriber;
  }

  get paused(): boolean {
    return false;
  }

  /** Bytes in memory. */
  get buffered(): number {
    return 0;
  }

  /** A borrowed chunk is valid until this returns; the last one until `end`, which follows at once, does. */
  abstract chunk(chunk: Uint8Array, borrowed: boolean, last: boolean): void;

  end(): void {
    this.subscriber.complete();
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }
}

/** A body of known length: each chunk is copied once, to its offset. */
export class Fill extends Sink {
  readonly #length: number;
  /** The receiver does not keep the buffer, which may then be borrowed itself. */
  readonly #borrow: boolean;
  #target: Buffer | undefined;
  #at = 0;

  constructor(subscriber: Subscriber<Buffer>, length: number, borrow: boolean) {
    super(subscriber);
    this.#length = length;
    this.#borrow = borrow;
  }

  override get buffered(): number {
    return this.#at;
  }

  override chunk(chunk: Uint8Array, borrowed: boolean, last: boolean): void {
    const usable = !borrowed || (this.#borrow && last);
    if (usable && this.#target === undefined && chunk.byteLength === this.#length) {
      this.#target =
        chunk instanceof Buffer ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.#at = this.#length;
      return;
    }
    this.#target ??= Buffer.allocUnsafe(this.#length);
    this.#target.set(chunk, this.#at);
    this.#at += chunk.byteLength;
  }

  override end(): void {
    this.subscriber.next(this.#target ?? Buffer.alloc(0));
    super.end();
  }
}

/** A body of unknown length. */
export class Gather extends Sink {
  readonly #bytes = new JoinedBytes();

  override get buffered(): number {
    return this.#bytes.length;
  }

  override chunk(chunk: Uint8Array, borrowed: boolean): void {
    this.#bytes.add(chunk, !borrowed);
  }

  override end(): void {
    this.subscriber.next(this.#bytes.take());
    super.end();
  }
}

/** Smaller chunks are joined before they are passed on: each costs its reader an object and a call. */
const smallChunk = 4 * 1024;
const joinedChunk = 16 * 1024;

/** The body as it arrives. */
export class Pass extends Sink {
  readonly #backpressure: Backpressure;
  readonly #small = new JoinedBytes();

  constructor(subscriber: Subscriber<Buffer>, backpressure: Backpressure) {
    super(subscriber);
    this.#backpressure = backpressure;
  }

  override get paused(): boolean {
    return this.#backpressure.paused;
  }

  override get buffered(): number {
    return this.#small.length;
  }

  override chunk(chunk: Uint8Array, borrowed: boolean): void {
    if (chunk.byteLength >= smallChunk && this.#small.length === 0) {
      this.subscriber.next(borrowed || !(chunk instanceof Buffer) ? Buffer.from(chunk) : chunk);
      return;
    }
    this.#small.add(chunk, !borrowed);
    if (this.#small.length >= joinedChunk) this.subscriber.next(this.#small.take());
  }

  override end(): void {
    if (this.#small.length > 0) this.subscriber.next(this.#small.take());
    super.end();
  }
}
