/** Images made in; the same out, each with whether it really is transparent. 502 for one that cannot be decoded. */
import { catchError, map, mergeMap, type OperatorFunction, of } from 'rxjs';
import { offloaded } from '../../src/ports/offload.ts';
import type { Pictures } from '../../src/ports/pictures.ts';
import { bytesOf, type MadeImage, withoutImage } from './call.ts';

/** Images of a request that are looked at together. */
const atOnce = 2;

export interface SeenImage extends MadeImage {
  readonly isTransparent: boolean;
}

/** An alpha channel says little: only the pixels tell, and they are looked at where there is one. */
export const tellBackground = (pictures: Pictures): OperatorFunction<MadeImage, SeenImage> =>
  mergeMap(
    (image) =>
      !image.hasAlpha
        ? of({ ...image, isTransparent: false })
        : offloaded(async (signal) =>
            pictures.isTransparent(await bytesOf(image.image, signal), signal),
          ).pipe(
            catchError((cause: unknown) => {
              throw withoutImage(cause);
            }),
            map((isTransparent) => ({ ...image, isTransparent })),
          ),
    atOnce,
  );
