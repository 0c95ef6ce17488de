/** Media that a request refers to: fetched from public https addresses only, or decoded from a data URI; bounded in size and time. */
import type { Observable } from 'rxjs';

export interface MediaRule {
  /** Field of the request, named in every error. */
  readonly field: string;
  readonly maxBytes: number;
}

export interface MediaData {
  readonly bytes: Buffer;
  /** Read from the bytes where they tell, else what the source declared. */
  readonly mediaType: string;
}

export interface Media {
  /** An https URL or base64 data URI → its bytes. Errors with `invalid_request` or `payload_too_large`. Unsubscribing aborts. */
  read(url: string, rule: MediaRule): Observable<MediaData>;
  close(): Promise<void>;
}
