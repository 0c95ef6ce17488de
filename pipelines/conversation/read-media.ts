/** Reads the media and documents of a request, bounded in number and size. */
import { catchError, from, last, map, mergeMap, type Observable, of, switchMap } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import { ApiError, fail } from '../../src/errors.ts';
import type { MediaContent, UserContent } from '../../src/ports/chat.ts';
import type { Base64, Media, MediaData, MediaRule } from '../../src/ports/media.ts';
import { type Offload, offloaded } from '../../src/ports/offload.ts';
import { invalid } from '../core/checks.ts';

/** Media or a document that a request refers to. */
export interface MediaReference {
  readonly kind: MediaContent['type'] | 'document';
  /** https URL or base64 data URI; bare base64 where `declared` is its media type. */
  readonly source: Base64;
  readonly declared?: string;
  /** Path of the source in the request, named in errors. */
  readonly field: string;
  readonly detail?: string;
  /** Of a document; the model sees it too. */
  readonly filename?: string | undefined;
  /** What the client says of a document; the model sees it below the name. */
  readonly context?: string | undefined;
}

/** A reference that is still to be read; `content[index]` is a placeholder until then. */
export interface PendingMedia extends MediaReference {
  readonly content: UserContent[];
  readonly index: number;
}

/** What the readers of message content fill while they run. */
export interface MediaCollector {
  readonly model: Model;
  readonly pending: PendingMedia[];
}

export const addMedia = (
  reference: MediaReference,
  content: UserContent[],
  { pending }: MediaCollector,
): void => {
  pending.push({ ...reference, content, index: content.length });
  content.push({ type: 'text', text: '' });
};

const mebibyte = 1024 * 1024;
const mostBytes: Record<MediaReference['kind'], number> = {
  image: 20 * mebibyte,
  audio: 25 * mebibyte,
  video: 50 * mebibyte,
  document: 32 * mebibyte,
};
const mostBytesTogether = 128 * mebibyte;
const mostReferences = 64;
const atOnce = 4;

export interface MediaReaders {
  readonly media: Media;
  readonly offload: Offload;
}

/** Emits the draft once all of its media is read. `pending` is not empty. */
export const readMedia = <Draft extends { readonly promptField: string }>(
  { media, offload }: MediaReaders,
  pending: readonly PendingMedia[],
  draft: Draft,
): Observable<Draft> => {
  const { promptField } = draft;
  if (pending.length > mostReferences)
    throw invalid(`${promptField} must not have more than ${mostReferences} media and document parts`);
  let left = mostBytesTogether;
  const read = (reference: PendingMedia): Observable<void> =>
    fetched(media, reference, Math.min(mostBytes[reference.kind], left)).pipe(
      switchMap((data) => {
        left -= data.size;
        if (left < 0)
          throw fail(
            'payload_too_large',
            `${promptField} holds more than ${mostBytesTogether} bytes of media`,
          );
        return contentOf(offload, reference, data);
      }),
      map((content) => {
        reference.content[reference.index] = content;
      }),
    );
  return from(pending).pipe(
    mergeMap(read, atOnce),
    last(),
    map(() => draft),
  );
};

const fetched = (
  media: Media,
  { source, declared, field }: MediaReference,
  maxBytes: number,
): Observable<MediaData> => {
  const rule: MediaRule = { field, maxBytes };
  return declared === undefined ? media.read(source, rule) : of(media.decode(source, rule));
};

const contentOf = (offload: Offload, reference: MediaReference, data: MediaData): Observable<UserContent> => {
  const { kind, field, detail, declared } = reference;
  if (kind === 'document') return documentText(offload, reference, data);
  const mediaType = declared !== undefined && data.mediaType === unknownType ? declared : data.mediaType;
  if (!isOf(kind, mediaType)) throw invalid(`${field} must be ${described[kind]}, not ${mediaType}`);
  const content: MediaContent = { type: kind, mediaType, base64: data.base64 };
  return of(detail === undefined ? content : { ...content, detail });
};

const documentText = (
  offload: Offload,
  reference: MediaReference,
  data: MediaData,
): Observable<UserContent> => {
  const { filename, context } = reference;
  return offloaded((signal) => offload.documentText(data, filename ?? '', { signal })).pipe(
    map((text): UserContent => ({ type: 'text', text: `${documentHeading(filename, context)}\n\n${text}` })),
    catchError((error: unknown) => {
      throw error instanceof ApiError
        ? fail(error.kind, `${reference.field}: ${error.message}`, { cause: error })
        : error;
    }),
  );
};

/** What the model sees above the text of a document. */
export const documentHeading = (filename = 'document', context?: string): string =>
  context === undefined ? filename : `${filename}\n\n${context}`;

const unknownType = 'application/octet-stream';

const described: Record<MediaContent['type'], string> = {
  image: 'an image',
  audio: 'sound',
  video: 'a video',
};

/** Audio often comes in a container that video shares. */
const isOf = (kind: MediaContent['type'], mediaType: string): boolean =>
  mediaType.startsWith(`${kind}/`) || (kind === 'audio' && mediaType.startsWith('video/'));
