/** Inspects and stores the images that an engine made. */
import { randomUUID } from 'node:crypto';
import { catchError, from, map, mergeMap, type Observable, of, pipe, switchMap, take, tap } from 'rxjs';
import { ApiError, fail } from '../../src/errors.ts';
import { type PictureHead, pictureHead } from '../../src/images/picture-head.ts';
import { decodeHead, decodeInTicks } from '../../src/media/base64.ts';
import type { Blobs } from '../../src/ports/blobs.ts';
import type { Drawn } from '../../src/ports/engines/image.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { MediaData } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';
import type { Pictures } from '../../src/ports/pictures.ts';
import type { Shared } from '../../src/ports/shared.ts';
import { fromOperator, type Transform } from '../core/stage.ts';
import type { ImageTask } from './load-images.ts';

/** With the type and size read from its bytes. */
export interface MadeImage extends Drawn, PictureHead {}

export interface InspectedImage extends MadeImage {
  readonly isTransparent: boolean;
}

export interface StoredImage extends InspectedImage {
  /** Undefined where the response carries the image itself. */
  readonly url: string | undefined;
}

interface Drawing {
  readonly task: ImageTask;
}

/** Images of a request that are inspected, or decoded and written, at the same time. */
const atOnce = 2;

// ── heads ──────────────────────────────────────────────────────────────────────────────────────────

/** Where every format has its size, unless a camera wrote much metadata before it. */
const headBytes = 48 * 1024;

/** 502 for bytes that are no image, and when there are fewer images than requested. */
export const readHeads: Transform<Drawn, MadeImage, Drawing> = fromOperator(({ task: { call } }) => {
  let made = 0;
  return pipe(
    take(call.n),
    mergeMap((drawn) => {
      made++;
      return headOf(drawn.image).pipe(map((head) => ({ ...head, ...drawn })));
    }),
    tap({
      complete: () => {
        if (made < call.n) throw withoutImage();
      },
    }),
  );
});

const headOf = (image: MediaData): Observable<PictureHead> => {
  const start = image.held === 'bytes' ? image.bytes : decodeHead(image.base64, headBytes);
  const head = pictureHead(start);
  if (head !== undefined) return of(head);
  if (start.length >= image.size) throw withoutImage();
  return bytesOf(image).pipe(
    map((bytes) => {
      const found = pictureHead(bytes);
      if (found === undefined) throw withoutImage();
      return found;
    }),
  );
};

// ── pixels ─────────────────────────────────────────────────────────────────────────────────────────

/** Of an image that an engine made: none of ours comes near. */
const mostPixels = 2 ** 28;

/** Decodes every image completely: 502 for one that is cut or damaged. With an alpha channel the pixels decide. */
export const decodeImages = (
  pictures: Shared<Pictures>,
): Transform<MadeImage, InspectedImage, Pick<KeyedRequest, 'caller'>> =>
  fromOperator(({ caller }) => {
    const own = pictures.for(caller.subscription);
    return mergeMap((image) => inspect(own, image), atOnce);
  });

const inspect = (pictures: Pictures, image: MadeImage): Observable<InspectedImage> =>
  bytesOf(image.image).pipe(
    switchMap((bytes) => offloaded((signal) => isTransparent(pictures, image, bytes, signal))),
    catchError((error: unknown) => {
      throw error instanceof ApiError && error.kind === 'invalid_request' ? damaged(error) : error;
    }),
    map((transparent) => ({ ...image, isTransparent: transparent })),
  );

const isTransparent = async (
  pictures: Pictures,
  { hasAlpha }: MadeImage,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<boolean> => {
  if (hasAlpha) return pictures.isTransparent(bytes, signal);
  await pictures.verify(bytes, mostPixels, signal);
  return false;
};

// ── files ──────────────────────────────────────────────────────────────────────────────────────────

const linkSeconds = 3600;
/** The file outlives its link: a download that runs when the hour ends can finish. */
const spareSeconds = 300;

/** Gives every image a link that is valid for an hour, where links were requested: 503 when it cannot be stored. */
export const storeImages = (blobs: Blobs): Transform<InspectedImage, StoredImage, Drawing> =>
  fromOperator(({ task: { stream, responseFormat } }) =>
    stream || responseFormat === 'b64_json'
      ? map((image) => ({ ...image, url: undefined }))
      : mergeMap((image) => store(blobs, image), atOnce),
  );

const store = (blobs: Blobs, image: InspectedImage): Observable<StoredImage> => {
  const { mediaType } = image;
  const name = `images/img_${randomUUID().replaceAll('-', '')}.${mediaType.slice('image/'.length)}`;
  const expiresAt = Date.now() + (linkSeconds + spareSeconds) * 1000;
  return bytesOf(image.image).pipe(
    switchMap((bytes) => from(blobs.put(name, bytes, { mediaType, expiresAt }))),
    switchMap(() => from(blobs.link(name, linkSeconds))),
    map((url) => ({ ...image, url })),
  );
};

/** The bytes of an image, in whichever form the engine sent it. */
const bytesOf = (image: MediaData): Observable<Buffer> =>
  image.held === 'base64' ? offloaded((signal) => decodeInTicks(image.base64, signal)) : of(image.bytes);

const withoutImage = (): ApiError => fail('engine_unreachable', 'The model answered without an image');

const damaged = (cause: ApiError): ApiError =>
  fail('engine_unreachable', 'The model answered with an image that cannot be decoded', { cause });
