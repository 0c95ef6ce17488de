/** Media that a request refers to: public https addresses or base64, limited in size and time. */
import type { Observable } from 'rxjs';

/**
 * Base64 text: a string, or, where it is long, the ASCII bytes of its characters. A string of sixty megabytes
 * costs the event loop thirty milliseconds each time it is made; the bytes cost it nothing and go into a
 * request body as they are.
 */
export type Base64 = string | Uint8Array;

export interface MediaRule {
  /** Field of the request, named in every error. */
  readonly field: string;
  /** Bytes once decoded. */
  readonly maxBytes: number;
}

export interface MediaData {
  /** Read from the bytes where they tell, else what the source declared, else `application/octet-stream`. */
  readonly mediaType: string;
  /** Bytes once decoded. */
  readonly size: number;
  /** Which of the two below it came as; the other is made of it on first use. Undefined: both are there. */
  readonly held?: 'base64' | 'bytes';
  /** Padded, in the standard alphabet, without line breaks: fit for an engine's JSON. */
  readonly base64: Base64;
  /** Decoded on first use, on the calling thread, at about half a millisecond a megabyte. */
  readonly bytes: Buffer;
}

export interface Media {
  /** An https URL or base64 data URI → its data. Errors with `invalid_request` or `payload_too_large`. Unsubscribing aborts. */
  read(url: Base64, rule: MediaRule): Observable<MediaData>;
  /** Base64 that stands in a field by itself, without a data URI around it. Throws as `read` errors. */
  decode(base64: Base64, rule: MediaRule): MediaData;
  close(): Promise<void>;
}
