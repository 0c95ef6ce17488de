/** A task in; its images out as the engine makes them, each with what its bytes say it is. 502 without an image; 503 504. */
import { concatWith, defer, EMPTY, map, mergeMap, type Observable, of, take } from 'rxjs';
import { type ApiError, fail } from '../../src/errors.ts';
import { type PictureHead, pictureHead } from '../../src/images/picture-head.ts';
import { decodeHead, decodeInTicks } from '../../src/media/base64.ts';
import type { Caller, Exchange } from '../../src/ports/exchange.ts';
import type { Drawn } from '../../src/ports/image.ts';
import type { MediaData } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';
import type { Ports } from '../../src/ports/ports.ts';
import type { ImageTask } from './read-inputs.ts';

export interface MadeImage extends Drawn, PictureHead {}

/** Where every format tells its size, unless a camera wrote a long story before it. */
const headBytes = 48 * 1024;

export const callImages = (
  { engines, usage }: Pick<Ports, 'engines' | 'usage'>,
  { id: requestId, backpressure, trace }: Exchange,
  { subscription }: Caller,
  { model, call }: ImageTask,
): Observable<MadeImage> =>
  defer(() => {
    usage.ensureOpen();
    const engine = engines.of(model);
    if (engine.image === undefined)
      throw fail('unavailable', `The model ${model.id} is unavailable: its engine makes no images`);
    let made = 0;
    return engine.image(model, call, { requestId, subscription, backpressure, trace }).pipe(
      take(call.n),
      mergeMap((drawn) => {
        made++;
        return headOf(drawn.image).pipe(map((head) => ({ ...head, ...drawn })));
      }),
      concatWith(
        defer(() => {
          if (made < call.n) throw withoutImage();
          return EMPTY;
        }),
      ),
    );
  });

const headOf = (image: MediaData): Observable<PictureHead> => {
  const start = image.held === 'bytes' ? image.bytes : decodeHead(image.base64, headBytes);
  const head = pictureHead(start);
  if (head !== undefined) return of(head);
  if (start.length >= image.size) throw withoutImage();
  return offloaded((signal) => bytesOf(image, signal)).pipe(
    map((bytes) => {
      const found = pictureHead(bytes);
      if (found === undefined) throw withoutImage();
      return found;
    }),
  );
};

/** The bytes of an image, whichever way it came. */
export const bytesOf = async (image: MediaData, signal: AbortSignal): Promise<Buffer> =>
  image.held === 'base64' ? decodeInTicks(image.base64, signal) : image.bytes;

export const withoutImage = (cause?: unknown): ApiError =>
  fail('engine_unreachable', 'The model answered without an image', { cause });
