/** Image calls and images for tests. */
import { firstValueFrom, type Observable, toArray } from 'rxjs';
import sharp from 'sharp';
import { plainMedia } from '../../src/media/media-data.ts';
import { Backpressure } from '../../src/ports/backpressure.ts';
import type { Drawn, ImageCall, InputImage } from '../../src/ports/engines/image.ts';

export const imageCall = (change: Partial<ImageCall> = {}): ImageCall => ({
  prompt: 'A lighthouse at dusk',
  n: 1,
  width: 256,
  height: 192,
  seed: 42n,
  steps: undefined,
  guidanceScale: undefined,
  negativePrompt: undefined,
  outputFormat: 'png',
  outputCompression: undefined,
  background: 'auto',
  references: [],
  mask: undefined,
  ...change,
});

export const flow = { requestId: 'req_1', subscription: 'sub_1', backpressure: new Backpressure() };

export const inputImage = (bytes: Buffer, width: number, height: number): InputImage => {
  const { mediaType, size, base64 } = plainMedia(bytes);
  return { bytes, mediaType, size, base64, width, height };
};

export type Colour = readonly [red: number, green: number, blue: number];

/** A picture of one colour. */
export const plainPicture = async (
  [r, g, b]: Colour,
  width = 256,
  height = 192,
  format: 'png' | 'jpeg' | 'webp' = 'png',
): Promise<InputImage> => {
  const picture = sharp({ create: { width, height, channels: 3, background: { r, g, b } } });
  return inputImage(await picture.toFormat(format).toBuffer(), width, height);
};

/** Clear in its right half: that may change. */
export const rightHalfMask = async (width = 256, height = 192): Promise<InputImage> => {
  const data = Buffer.alloc(width * height * 4, 255);
  for (let at = 0; at < data.length; at += 4) if ((at / 4) % width >= width / 2) data[at + 3] = 0;
  const bytes = await sharp(data, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
  return inputImage(bytes, width, height);
};

/** In the order of their places. */
export const drawnBy = async (images: Observable<Drawn> | undefined): Promise<readonly Drawn[]> => {
  if (images === undefined) throw new Error('The engine draws nothing');
  const all = await firstValueFrom(images.pipe(toArray()));
  return [...all].sort((one, other) => one.index - other.index);
};

export interface Pixels {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  readonly hasAlpha: boolean;
  /** Red, green, blue and alpha. */
  at(x: number, y: number): readonly number[];
}

export const pixelsOf = async (file: Buffer): Promise<Pixels> => {
  const { format, width, height, hasAlpha } = await sharp(file).metadata();
  const data = await sharp(file).ensureAlpha().raw().toBuffer();
  const at = (x: number, y: number) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
  return { format, width, height, hasAlpha, at };
};
