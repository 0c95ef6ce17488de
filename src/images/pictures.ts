/** The Pictures port on sharp: decodes pictures to check them, their size and transparency. */
import type { Sharp, SharpOptions } from 'sharp';
import { fail } from '../errors.ts';
import type { Pictures } from '../ports/pictures.ts';
import { Semaphore } from '../semaphore.ts';

interface PicturesOptions {
  /** Pictures decoded at once: the threads are the same that write files. */
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

export const createPictures = ({ atOnce = 2, maxWaiting = 256 }: PicturesOptions = {}): Pictures => {
  const semaphore = new Semaphore(atOnce, maxWaiting, busy);
  const look = <T>(
    bytes: Buffer,
    limitInputPixels: number,
    signal: AbortSignal,
    see: (picture: Sharp) => Promise<T>,
  ): Promise<T> =>
    semaphore.run(signal, async () => {
      const { default: sharp } = await import('sharp');
      const options: SharpOptions = { limitInputPixels, failOn: 'error', sequentialRead: true };
      try {
        return await see(sharp(bytes, options));
      } catch (cause) {
        const isLarge = cause instanceof Error && cause.message.includes('pixel limit');
        throw fail(
          'invalid_request',
          isLarge ? `has more than ${limitInputPixels} pixels` : 'cannot be read: the picture is damaged',
          { cause },
        );
      }
    });

  return {
    verify: (bytes, maxPixels, signal) =>
      look(bytes, maxPixels, signal, async (picture) => {
        const { width, height } = await picture.metadata();
        await picture.resize(small, small, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
        return { width, height };
      }),
    isTransparent: (bytes, signal) =>
      look(bytes, maxMadePixels, signal, async (picture) => {
        const { width, height, depth, hasAlpha } = await picture.metadata();
        // The library's statistics tell it too, and much more: at twenty times the cost.
        const isComparable = hasAlpha && depth === 'uchar' && width * height <= mostComparedPixels;
        if (!isComparable) return !(await picture.stats()).isOpaque;
        const alpha = await picture.extractChannel('alpha').raw().toBuffer();
        return !alpha.equals(Buffer.alloc(alpha.length, opaque));
      }),
  };
};
