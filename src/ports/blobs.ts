/** Files by name, written and read as streams, served by links that expire. */
import type { Observable } from 'rxjs';
import type { Backpressure } from './backpressure.ts';

export interface BlobInfo {
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
}

export interface BlobOptions {
  readonly mediaType: string;
  /** Unix milliseconds: gone some time after it, without anybody's doing. Absent: kept until removed. */
  readonly expiresAt?: number;
}

/** Bytes from `start` up to, but without, `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Names are made of letters, digits, `_`, `-`, `.` and `/` between their parts (`images/img_1f….png`).
 * Calls fail with `unavailable` (503) when the store cannot answer.
 */
export interface Blobs {
  /**
   * Emits once, when every byte is safe. `backpressure` holds the source back while the store is behind. Until then, and when
   * the source fails or the subscriber leaves, there is nothing under the name.
   */
  write(
    name: string,
    bytes: Observable<Uint8Array>,
    options: BlobOptions & { readonly backpressure: Backpressure },
  ): Observable<BlobInfo>;
  /** The same for bytes that are all there. */
  put(name: string, bytes: Uint8Array, options: BlobOptions): Promise<void>;
  stat(name: string): Promise<BlobInfo | undefined>;
  /** As fast as `backpressure` allows; errors with `not_found` when there is nothing under the name. */
  read(name: string, backpressure: Backpressure, range?: ByteRange): Observable<Buffer>;
  /** Nothing under the name is fine. */
  remove(name: string): Promise<void>;
  /** An absolute address that anybody may GET for so long. */
  link(name: string, seconds: number): Promise<string>;
  /** Resolves when the store answers; rejects with a plain sentence when it does not. */
  check(): Promise<void>;
  close(): Promise<void>;
}
