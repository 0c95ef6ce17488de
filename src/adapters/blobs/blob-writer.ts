/** Writes a blob whole or not at all, and pauses the source while the store is behind. */
import { Observable, type Observer } from 'rxjs';
import type { Backpressure } from '../../ports/backpressure.ts';
import type { BlobInfo, BlobOptions, Blobs } from '../../ports/blobs.ts';
import { asUnavailable } from './unavailable.ts';

/** A blob that is being written, by the means of its store. One call at a time. */
export interface PendingBlob {
  append(pieces: readonly Uint8Array[]): Promise<void>;
  /** The name stands for all of the bytes from now on. */
  publish(): Promise<void>;
  /** Also takes back what was published. */
  discard(): Promise<void>;
}

/** `Blobs.write`, given how to begin. */
export const writeBlob =
  (begin: (name: string, options: BlobOptions) => PendingBlob): Blobs['write'] =>
  (name, bytes, { backpressure, ...options }) =>
    new Observable<BlobInfo>((subscriber) => {
      const writer = new BlobWriter(begin(name, options), backpressure, {
        next: (size) => subscriber.next({ mediaType: options.mediaType, size }),
        error: (thrown) => subscriber.error(thrown),
        complete: () => subscriber.complete(),
      });
      const source = bytes.subscribe(writer);
      return () => {
        source.unsubscribe();
        writer.abandon();
      };
    });

/** `Blobs.put`, given how to begin. */
export const putBlob =
  (begin: (name: string, options: BlobOptions) => PendingBlob): Blobs['put'] =>
  async (name, bytes, options) => {
    const blob = begin(name, options);
    try {
      await blob.append([bytes]);
      await blob.publish();
    } catch (error) {
      await discard(blob);
      throw asUnavailable(error);
    }
  };

/** Bytes that may wait for the store before the source is asked to pause. */
const mostWaiting = 512 * 1024;

class BlobWriter implements Observer<Uint8Array> {
  readonly #blob: PendingBlob;
  readonly #backpressure: Backpressure;
  readonly #done: Observer<number>;
  #waiting: Uint8Array[] = [];
  /** Bytes waiting and being written. */
  #held = 0;
  #size = 0;
  #phase: 'open' | 'complete' | 'over' = 'open';
  #working = false;

  /** `done` receives the size of the blob, or the error. */
  constructor(blob: PendingBlob, backpressure: Backpressure, done: Observer<number>) {
    this.#blob = blob;
    this.#backpressure = backpressure;
    this.#done = done;
  }

  next(piece: Uint8Array): void {
    if (this.#phase !== 'open' || piece.length === 0) return;
    this.#waiting.push(piece);
    this.#held += piece.length;
    this.#size += piece.length;
    if (this.#held >= mostWaiting) this.#backpressure.pause();
    this.#start();
  }

  complete(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'complete';
    this.#start();
  }

  error(thrown: unknown): void {
    this.#end();
    this.#done.error(thrown);
  }

  /** Nobody waits for the blob any more. */
  abandon(): void {
    if (this.#phase !== 'over') this.#end();
  }

  #end(): void {
    this.#phase = 'over';
    this.#waiting = [];
    this.#start();
  }

  #start(): void {
    if (!this.#working) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working = true;
    try {
      while (this.#waiting.length > 0) await this.#writeWaiting();
      if (this.#phase === 'complete') await this.#blob.publish();
    } catch (thrown) {
      this.#phase = 'over';
      this.#done.error(asUnavailable(thrown));
    }
    if (this.#phase === 'over') await discard(this.#blob);
    this.#working = false;
    if (this.#phase !== 'complete') return;
    this.#phase = 'over';
    this.#done.next(this.#size);
    this.#done.complete();
  }

  async #writeWaiting(): Promise<void> {
    const pieces = this.#waiting;
    this.#waiting = [];
    await this.#blob.append(pieces);
    for (const piece of pieces) this.#held -= piece.length;
    if (this.#phase !== 'over') this.#backpressure.resume();
  }
}

const discard = async (blob: PendingBlob): Promise<void> => {
  try {
    await blob.discard();
  } catch {
    // The sweep finds what could not be removed now.
  }
};
