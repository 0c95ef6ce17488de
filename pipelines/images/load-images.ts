/** Fetches, decodes and verifies the pictures of an admitted image request: 400 and 413 name the field. */
import { catchError, from, map, mergeMap, type Observable, of, switchMap, toArray } from 'rxjs';
import type { Model } from '../../schemas/catalog.ts';
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import { ApiError } from '../../src/errors.ts';
import { decodeInTicks } from '../../src/media/base64.ts';
import { plainMedia } from '../../src/media/media-data.ts';
import { headLength, sniffMediaType } from '../../src/media/media-type.ts';
import type { ImageCall, InputImage } from '../../src/ports/engines/image.ts';
import type { KeyedRequest } from '../../src/ports/exchange.ts';
import type { Media } from '../../src/ports/media.ts';
import { offloaded } from '../../src/ports/offload.ts';
import type { PictureSize, Pictures } from '../../src/ports/pictures.ts';
import type { Ports } from '../../src/ports/ports.ts';
import { invalid } from '../core/checks.ts';
import type { Step } from '../core/stage.ts';
import { maxImageBytes, maxTotalBytes, tooLargeTogether } from './read-body.ts';
import type { ImagePlan, ImageResponseFormat } from './read-request.ts';
import type { ImageSource } from './read-sources.ts';

export interface ImageTask {
  readonly model: Model;
  readonly spec: ImageCapabilities;
  readonly responseFormat: ImageResponseFormat;
  readonly stream: boolean;
  readonly call: ImageCall;
}

interface Readers {
  readonly media: Media;
  readonly pictures: Pictures;
}

/** Pictures of a request that are read at the same time. */
const atOnce = 4;

export const loadImages =
  ({
    media,
    pictures,
  }: Pick<Ports, 'media' | 'pictures'>): Step<ImagePlan, ImageTask, Pick<KeyedRequest, 'caller'>> =>
  (plan, { caller: { subscription } }) => {
    const { model, spec, responseFormat, stream, call, references, mask } = plan;
    const task = (images: readonly InputImage[]): ImageTask => ({
      model,
      spec,
      responseFormat,
      stream,
      call: {
        ...call,
        references: images.slice(0, references.length),
        mask: mask && images[references.length],
      },
    });
    if (references.length === 0) return task([]);
    const readers = { media: media.for(subscription), pictures: pictures.for(subscription) };
    return readAll(readers, mask === undefined ? references : [...references, mask], plan).pipe(map(task));
  };

const readAll = (
  readers: Readers,
  sources: readonly ImageSource[],
  { mask, spec: { parameters } }: ImagePlan,
): Observable<readonly InputImage[]> => {
  const { formats = [], max_pixels: maxPixels = 0 } = parameters.input_references ?? {};
  let left = maxTotalBytes;
  const read = (source: ImageSource, index: number) =>
    bytesOf(readers, source).pipe(
      switchMap((bytes) => {
        left -= bytes.length;
        if (left < 0) throw tooLargeTogether();
        checkType(bytes, source.field, source === mask ? ['image/png'] : formats);
        return offloaded((signal) => readers.pictures.verify(bytes, maxPixels, signal)).pipe(
          map((size) => ({ index, image: inputImage(bytes, size) })),
        );
      }),
      catchError((error: unknown) => {
        throw named(error, source.field);
      }),
    );
  return from(sources).pipe(
    mergeMap(read, atOnce),
    toArray(),
    map((found) => found.sort((one, other) => one.index - other.index).map(({ image }) => image)),
  );
};

/** Base64 is replaced by its bytes: engines are sent files, and a picture stays in memory once. */
const bytesOf = ({ media }: Readers, { field, from: source }: ImageSource): Observable<Buffer> =>
  'bytes' in source
    ? of(source.bytes)
    : media
        .read(source.url, { field, maxBytes: maxImageBytes })
        .pipe(switchMap(({ base64 }) => offloaded((signal) => decodeInTicks(base64, signal))));

const checkType = (bytes: Buffer, field: string, formats: readonly string[]): void => {
  const type = sniffMediaType(bytes.subarray(0, headLength)) ?? 'something else';
  if (!formats.includes(type))
    throw invalid(`${field} must be ${formats.join(', ').replace(/, ([^,]*)$/, ' or $1')}, not ${type}`);
};

/** Errors of a picture's content do not name its field. */
const named = (error: unknown, field: string): unknown =>
  error instanceof ApiError && error.kind === 'invalid_request' && !error.message.startsWith(field)
    ? invalid(`${field} ${error.message}`, { cause: error })
    : error;

const inputImage = (bytes: Buffer, { width, height }: PictureSize): InputImage => {
  const media = plainMedia(bytes);
  return {
    held: 'bytes',
    mediaType: media.mediaType,
    size: media.size,
    bytes,
    get base64() {
      return media.base64;
    },
    width,
    height,
  };
};
