/** Writes a blob whole or not at all, and pauses the source while the store is behind. */
import { Observable } from 'rxjs';
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

/** Bytes that may wait for the store before the source is asked to pause. */
const mostWaiting = 512 * 1024;

/** `Blobs.write`, given how to begin. */
export const writeBlob =
  (begin: (name: string, options: BlobOptions) => PendingBlob): Blobs['write'] =>
  (name, bytes, { backpressure, ...options }) =>
    new Observable<BlobInfo>((subscriber) => {
      const blob = begin(name, options);
      let waiting: Uint8Array[] = [];
      /** Bytes waiting and being written. */
      let held = 0;
      let size = 0;
      let phase: 'open' | 'complete' | 'over' = 'open';
      let working = false;

      const writeWaiting = async (): Promise<void> => {
        const pieces = waiting;
        waiting = [];
        await blob.append(pieces);
        for (const piece of pieces) held -= piece.length;
        if (phase !== 'over') backpressure.resume();
      };
      const work = async (): Promise<void> => {
        working = true;
        try {
          while (waiting.length > 0) await writeWaiting();
          if (phase === 'complete') await blob.publish();
        } catch (thrown) {
          phase = 'over';
          subscriber.error(asUnavailable(thrown));
        }
        if (phase === 'over') await discard(blob);
        working = false;
        if (phase !== 'complete') return;
        phase = 'over';
        subscriber.next({ mediaType: options.mediaType, size });
        subscriber.complete();
      };
      const start = (): void => {
        if (!working) void work();
      };
      const end = (): void => {
        phase = 'over';
        waiting = [];
        start();
      };

      const source = bytes.subscribe({
        next: (piece) => {
          if (phase !== 'open' || piece.length === 0) return;
          waiting.push(piece);
          held += piece.length;
          size += piece.length;
          if (held >= mostWaiting) backpressure.pause();
          start();
        },
        complete: () => {
          if (phase !== 'open') return;
          phase = 'complete';
          start();
        },
        error: (thrown) => {
          end();
          subscriber.error(thrown);
        },
      });
      return () => {
        source.unsubscribe();
        // Nobody waits for the blob any more.
        if (phase !== 'over') end();
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

const discard = async (blob: PendingBlob): Promise<void> => {
  try {
    await blob.discard();
  } catch {
    // The sweep finds what could not be removed now.
  }
};
