/** Images made in; the same out, each beside the address it can be read at for an hour where links were asked for. 503 when they cannot be kept. */
import { randomUUID } from 'node:crypto';
import { from, map, mergeMap, type OperatorFunction, switchMap } from 'rxjs';
import type { Blobs } from '../../src/ports/blobs.ts';
import { offloaded } from '../../src/ports/offload.ts';
import { bytesOf } from './call.ts';
import type { SeenImage } from './detect-background.ts';
import type { ImageResponseFormat } from './read-request.ts';

export interface KeptImage extends SeenImage {
  readonly url: string | undefined;
}

/** Images of a request that are decoded and written at the same time. */
const atOnce = 2;
const linkSeconds = 3600;
/** The file outlives its link: one that is being read when the hour ends is read to its end. */
const spareSeconds = 300;

export const keepImages = (
  blobs: Blobs,
  responseFormat: ImageResponseFormat,
): OperatorFunction<SeenImage, KeptImage> =>
  responseFormat === 'b64_json'
    ? map((image) => ({ ...image, url: undefined }))
    : mergeMap((image) => {
        const name = `images/img_${randomUUID().replaceAll('-', '')}.${image.mediaType.slice('image/'.length)}`;
        const expiresAt = Date.now() + (linkSeconds + spareSeconds) * 1000;
        return offloaded((signal) => bytesOf(image.image, signal)).pipe(
          switchMap((bytes) => from(blobs.put(name, bytes, { mediaType: image.mediaType, expiresAt }))),
          switchMap(() => from(blobs.link(name, linkSeconds))),
          map((url) => ({ ...image, url })),
        );
      }, atOnce);
