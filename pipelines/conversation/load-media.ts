/** Loads the media and documents of an admitted request, bounded in size: 400 413 names the part. */
import { catchError, from, last, map, mergeMap, type Observable, of, switchMap } from 'rxjs';
import { ApiError, fail } from '../../src/errors.ts';
import type { MediaContent, UserContent } from '../../src/ports/engines/chat.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Media, MediaData, MediaRule } from '../../src/ports/media.ts';
import { type Offload, offloaded } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import type { Step } from '../core/stage.ts';
import { documentHeading, type MediaReference, type PendingMedia } from './media-parts.ts';

const mebibyte = 1024 * 1024;
const mostBytes: Record<MediaReference['kind'], number> = {
  image: 20 * mebibyte,
  audio: 25 * mebibyte,
  video: 50 * mebibyte,
  document: 32 * mebibyte,
};
const mostBytesTogether = 128 * mebibyte;
const atOnce = 4;

export type MediaReaders = Pick<Ports, 'media' | 'offload'>;

interface Pending {
  readonly pending: readonly PendingMedia[];
  readonly promptField: string;
}

type Request = Pick<KeyedRequest, 'caller'>;

/** Passes a draft on once all of its media is in its call. */
export const loadMedia =
  <Draft extends Pending>(readers: MediaReaders): Step<Draft, Draft, Request> =>
  (draft, request) =>
    draft.pending.length === 0 ? draft : loadAll(readers, draft, request).pipe(map(() => draft));

/** `pending` is not empty. Emits once, when all of it is loaded. */
export const loadAll = (
  readers: MediaReaders,
  { pending, promptField }: Pending,
  { caller: { subscription } }: Request,
): Observable<void> => {
  const media = readers.media.for(subscription);
  const offload = readers.offload.for(subscription);
  let left = mostBytesTogether;
  const load = (reference: PendingMedia): Observable<void> =>
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
  return from(pending).pipe(mergeMap(load, atOnce), last());
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

const unknownType = 'application/octet-stream';

const described: Record<MediaContent['type'], string> = {
  image: 'an image',
  audio: 'sound',
  video: 'a video',
};

/** Audio often comes in a container that video shares. */
const isOf = (kind: MediaContent['type'], mediaType: string): boolean =>
  mediaType.startsWith(`${kind}/`) || (kind === 'audio' && mediaType.startsWith('video/'));
