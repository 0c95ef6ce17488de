/** The Pictures port on sharp, and on the codec for HEIC: decodes pictures to check them. */
import { fromEvent, lastValueFrom, reduce, takeUntil } from 'rxjs';
import type { Sharp, SharpOptions } from 'sharp';
import { ApiError, fail } from '../errors.ts';
import { Semaphore } from '../helpers/semaphore.ts';
import { Backpressure } from '../ports/backpressure.ts';
import type { Codec } from '../ports/codec.ts';
import type { PictureSize, Pictures } from '../ports/pictures.ts';
import { ownWork, type Shared, type Turn } from '../ports/shared.ts';
import { type HeifPicture, readHeif } from './heif.ts';
import { pictureHead } from './picture-head.ts';

interface PicturesOptions {
  /** Decodes HEVC, which sharp does not; without it no HEIC can be verified. */
  readonly codec?: Pick<Shared<Codec>, 'for'>;
  /** Small pictures decoded at once: the threads are the same that write files. Large ones count for several. */
  readonly atOnce?: number;
  readonly maxWaiting?: number;
}

/** Pixels of an image that an engine made: none of ours comes near. */
const maxMadePixels = 2 ** 28;
const busy = 'The service is busy looking at other pictures; retry in a moment';
/** Any size will do: to make the picture this small, each of its pixels is read. */
const small = 8;
/** Their alpha is held at once, a byte each, and compared on the event loop. */
const mostComparedPixels = 2 ** 22;
const opaque = 255;
/** An interlaced picture is in memory as a whole, four bytes a pixel: one with more than this counts for several. */
const pixelsOfPermit = 2 ** 24;

const permitsOf = (size: PictureSize | undefined): number =>
  Math.max(1, Math.ceil(((size?.width ?? 0) * (size?.height ?? 0)) / pixelsOfPermit));

export const createPictures = ({
  codec,
  atOnce = 3,
  maxWaiting = 256,
}: PicturesOptions = {}): Pictures & Shared<Pictures> => {
  const semaphore = new Semaphore({ permits: atOnce, maxWaiters: maxWaiting, busy });
  const look = <T>(
    bytes: Buffer,
    limitInputPixels: number,
    turn: Turn,
    see: (picture: Sharp) => Promise<T>,
  ): Promise<T> => {
    const work = async (): Promise<T> => {
      const { default: sharp } = await import('sharp');
      const options: SharpOptions = { limitInputPixels, failOn: 'error', sequentialRead: true };
      try {
        return await see(sharp(bytes, options));
      } catch (cause) {
        const isLarge = cause instanceof Error && cause.message.includes('pixel limit');
        throw isLarge ? tooLarge(limitInputPixels, cause) : damaged(cause);
      }
    };
    return semaphore.run(turn, work, permitsOf(pictureHead(bytes)));
  };

  const verifyHeif = (picture: HeifPicture, maxPixels: number, turn: Turn): Promise<PictureSize> => {
    const { width, height } = picture;
    if (width * height > maxPixels) throw tooLarge(maxPixels);
    const work = async (): Promise<PictureSize> => {
      await decodeTiles(codec?.for(turn.subscription), picture, turn.signal);
      return { width, height };
    };
    return semaphore.run(turn, work, permitsOf(picture));
  };

  const picturesFor = (subscription: string): Pictures => ({
    verify: async (bytes, maxPixels, signal) => {
      const heif = isHeif(bytes) ? heifOf(bytes) : undefined;
      if (heif !== undefined) return verifyHeif(heif, maxPixels, { subscription, signal });
      return look(bytes, maxPixels, { subscription, signal }, async (picture) => {
        const { width, height } = await picture.metadata();
        await picture.resize(small, small, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
        return { width, height };
      });
    },
    isTransparent: (bytes, signal) =>
      look(bytes, maxMadePixels, { subscription, signal }, async (picture) => {
        const { width, height, depth, hasAlpha } = await picture.metadata();
        // The library's statistics tell it too, and much more: at twenty times the cost.
        const isComparable = hasAlpha && depth === 'uchar' && width * height <= mostComparedPixels;
        if (!isComparable) return !(await picture.stats()).isOpaque;
        const alpha = await picture.extractChannel('alpha').raw().toBuffer();
        return !alpha.equals(Buffer.alloc(alpha.length, opaque));
      }),
  });
  return { ...picturesFor(ownWork), for: picturesFor, stats: () => ({ pictures: semaphore.stats() }) };
};

const isHeif = (bytes: Buffer): boolean => bytes.toString('latin1', 4, 8) === 'ftyp';

const heifOf = (bytes: Buffer): HeifPicture | undefined => {
  try {
    return readHeif(bytes);
  } catch (cause) {
    throw damaged(cause);
  }
};

/** Bytes of each picture once it is made small. */
const tileBytes = small * small;

const decodeTiles = async (
  codec: Pick<Codec, 'convert'> | undefined,
  { hevc, tiles }: HeifPicture,
  signal: AbortSignal,
): Promise<void> => {
  if (codec === undefined) throw fail('internal', 'HEIC pictures cannot be read on this server');
  const conversion = {
    inputArguments: ['-err_detect', 'explode', '-f', 'hevc'],
    arguments: [
      ...['-xerror', '-vsync', '0', '-vf', `scale=${small}:${small}`],
      ...['-pix_fmt', 'gray', '-f', 'rawvideo'],
    ],
    maxBytes: (tiles + 1) * tileBytes,
    timeoutMs: 60_000,
  };
  const decoded = codec.convert(hevc, conversion, new Backpressure()).pipe(
    takeUntil(fromEvent(signal, 'abort')),
    reduce((length, bytes) => length + bytes.length, 0),
  );
  const length = await lastValueFrom(decoded).catch((error: unknown) => {
    throw error instanceof ApiError && error.kind === 'invalid_request' ? damaged(error) : error;
  });
  signal.throwIfAborted();
  if (length !== tiles * tileBytes) throw damaged(new Error(`${length} of ${tiles * tileBytes} bytes`));
};

const damaged = (cause: unknown): ApiError =>
  fail('invalid_request', 'cannot be read: the picture is damaged', { cause });

const tooLarge = (maxPixels: number, cause?: unknown): ApiError =>
  fail('invalid_request', `has more than ${maxPixels} pixels`, { cause });
