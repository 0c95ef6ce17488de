/** Media and documents that a request refers to, in; their data put in its place, out. Read a few at a time, bounded in number and size. */

import { catchError, defer, from, last, map, mergeMap, type Observable, of, switchMap } from 'rxjs';
import { ApiError, fail } from '../../src/errors.ts';
import type { MediaContent, UserContent } from '../../src/ports/chat.ts';
import type { Base64, Media, MediaData, MediaRule } from '../../src/ports/media.ts';
import { type Offload, offloaded } from '../../src/ports/offload.ts';
import { invalid } from '../core/checks.ts';

export interface Reading {
  readonly kind: MediaContent['type'] | 'document';
  /** https URL or base64 data URI; bare base64 when `declared` says of what. */
  readonly source: Base64;
  /** Media type of bare base64. */
  readonly declared?: string;
  /** Where the source stands in the request, named in errors. */
  readonly field: string;
  readonly detail?: string;
  /** A document's name, told to the model. */
  readonly filename?: string;
  place(content: UserContent): void;
}

const mebibyte = 1024 * 1024;
const mostBytes: Record<Reading['kind'], number> = {
  image: 20 * mebibyte,
  audio: 25 * mebibyte,
  video: 50 * mebibyte,
  document: 32 * mebibyte,
};
const mostBytesTogether = 128 * mebibyte;
const mostReadings = 64;
const atOnce = 4;

export interface MediaReaders {
  readonly media: Media;
  readonly offload: Offload;
}

/** Emits once, when all of it is in place. `readings` is not empty; `field` is what they stand in. */
export const readMedia = (
  readers: MediaReaders,
  readings: readonly Reading[],
  field: string,
): Observable<void> =>
  defer(() => {
    if (readings.length > mostReadings)
      throw invalid(`${field} must not have more than ${mostReadings} media and document parts`);
    let left = mostBytesTogether;
    const read = (reading: Reading): Observable<void> =>
      fetched(readers.media, reading, Math.min(mostBytes[reading.kind], left)).pipe(
        switchMap((data) => {
          left -= data.size;
          if (left < 0)
            throw fail('payload_too_large', `${field} holds more than ${mostBytesTogether} bytes of media`);
          return contentOf(readers.offload, reading, data);
        }),
        map((content) => reading.place(content)),
      );
    return from(readings).pipe(mergeMap(read, atOnce), last());
  });

const fetched = (
  media: Media,
  { source, declared, field }: Reading,
  maxBytes: number,
): Observable<MediaData> => {
  const rule: MediaRule = { field, maxBytes };
  return declared === undefined ? media.read(source, rule) : of(media.decode(source, rule));
};

const contentOf = (offload: Offload, reading: Reading, data: MediaData): Observable<UserContent> => {
  const { kind, field, detail, declared } = reading;
  if (kind === 'document') return documentText(offload, reading, data);
  const mediaType = declared !== undefined && data.mediaType === unknownType ? declared : data.mediaType;
  if (!isOf(kind, mediaType)) throw invalid(`${field} must be ${described[kind]}, not ${mediaType}`);
  const content: MediaContent = { type: kind, mediaType, base64: data.base64 };
  return of(detail === undefined ? content : { ...content, detail });
};

const documentText = (offload: Offload, reading: Reading, data: MediaData): Observable<UserContent> => {
  const filename = reading.filename ?? 'document';
  return offloaded((signal) => offload.documentText(data, filename, { signal })).pipe(
    map((text): UserContent => ({ type: 'text', text: `${filename}\n\n${text}` })),
    catchError((error: unknown) => {
      throw error instanceof ApiError
        ? fail(error.kind, `${reading.field}: ${error.message}`, { cause: error })
        : error;
    }),
  );
};

const unknownType = 'application/octet-stream';

const described: Record<MediaContent['type'], string> = {
  image: 'an image',
  audio: 'sound',
  video: 'a video',
};

/** Sound often comes in a container that video shares. */
const isOf = (kind: MediaContent['type'], mediaType: string): boolean =>
  mediaType.startsWith(`${kind}/`) || (kind === 'audio' && mediaType.startsWith('video/'));
