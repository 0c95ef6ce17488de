/** Draws a deterministic image for a call on sharp's threads. */
import type { OverlayOptions, Sharp, SharpOptions } from 'sharp';
import { fail } from '../../errors.ts';
import type { ImageCall } from '../../ports/engines/image.ts';
import { hashText, Random } from '../random.ts';
import { type Bitmap, captionOf } from './caption.ts';

type SharpModule = (input?: Buffer, options?: SharpOptions) => Sharp;

/** Colours across and down, drawn out into soft clouds. */
const cloudCells = 6;
/** Opacity, of 255, of the clouds over an input image. */
const veil = 110;
const mostInputPixels = 100_000_000;

/** Of pictures nothing but their bytes counts. */
export type SketchCall = Omit<ImageCall, 'references' | 'mask'> & {
  readonly references: readonly Picture[];
  readonly mask: Picture | undefined;
};

interface Picture {
  readonly bytes: Buffer;
}

/** The seed is no option here: an engine that is given none has rolled one. */
export type DrawingCall = SketchCall & { readonly seed: bigint };

export const drawImage = async (sharp: SharpModule, call: DrawingCall, index: number): Promise<Buffer> => {
  const random = new Random(hashText(identity(call, index)));
  const clouds = cloudsOf(random, call.references.length > 0 && call.mask === undefined ? veil : 255);
  const caption = await captionLayer(sharp, call, index);
  const [base] = call.references;
  const layers = base === undefined ? [caption] : await editLayers(sharp, call, clouds, caption);
  const picture =
    base === undefined
      ? fitted(sharp(clouds.data, rawOf(clouds)), call, 'cubic')
      : fitted(opened(sharp, base), call, 'lanczos3');
  if (call.background === 'transparent') layers.unshift(plateCut(call));
  picture.composite(layers.filter((layer) => layer !== undefined));
  try {
    return await encoded(
      call.background === 'transparent' ? picture : picture.removeAlpha(),
      call,
    ).toBuffer();
  } catch (cause) {
    throw base === undefined ? cause : unreadable(cause);
  }
};

/** All parameters; input images by a sample of their bytes. */
const identity = (call: DrawingCall, index: number): string =>
  [
    ...[index, call.n, call.width, call.height, call.seed, call.steps, call.guidanceScale, call.background],
    ...[call.prompt, call.negativePrompt, ...[...call.references, call.mask].map(sample)],
  ].join('\n');

const sample = (image: Picture | undefined): string => {
  if (image === undefined) return '';
  const { bytes } = image;
  const step = Math.ceil(bytes.length / 1024);
  let text = `${bytes.length} `;
  for (let at = 0; at < bytes.length; at += step) text += String.fromCharCode(bytes[at] ?? 0);
  return text;
};

const cloudsOf = (random: Random, alpha: number): Bitmap => {
  const [from, to] = [0, 1].map(() => [0, 1, 2].map(() => random.integer(20, 235)));
  const data = Buffer.alloc(cloudCells * cloudCells * 4, alpha);
  for (let at = 0; at < data.length; at += 4) {
    const share = random.fraction();
    for (let channel = 0; channel < 3; channel++) {
      const mixed = (from?.[channel] ?? 0) * (1 - share) + (to?.[channel] ?? 0) * share;
      data[at + channel] = Math.min(255, Math.max(0, Math.round(mixed + random.integer(-24, 24))));
    }
  }
  return { data, width: cloudCells, height: cloudCells };
};

const captionLayer = async (
  sharp: SharpModule,
  call: DrawingCall,
  index: number,
): Promise<OverlayOptions | undefined> => {
  const caption = captionOf(call.prompt, details(call, index), call);
  if (caption === undefined) return undefined;
  const { width, height, scale } = caption;
  const size = { width: width * scale, height: height * scale };
  const { data, info } = await sharp(caption.data, rawOf(caption))
    .resize({ ...size, fit: 'fill', kernel: 'nearest' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { input: data, raw: { ...size, channels: info.channels }, gravity: 'centre' };
};

const details = (
  { width, height, seed, steps, guidanceScale, negativePrompt, n }: DrawingCall,
  index: number,
) =>
  [
    `${width}x${height} seed ${seed}`,
    ...(steps === undefined ? [] : [`steps ${steps}`]),
    ...(guidanceScale === undefined ? [] : [`guidance ${guidanceScale}`]),
    ...(negativePrompt === undefined ? [] : [`not: ${negativePrompt.slice(0, 100)}`]),
    ...(n === 1 ? [] : [`${index + 1} of ${n}`]),
  ].join(' ');

/** A veil of clouds over the picture, the others as small ones in its upper row; with a mask new clouds where it is clear. */
const editLayers = async (
  sharp: SharpModule,
  call: DrawingCall,
  clouds: Bitmap,
  caption: OverlayOptions | undefined,
): Promise<(OverlayOptions | undefined)[]> => {
  const { mask, width, height } = call;
  const cover = fitted(sharp(clouds.data, rawOf(clouds)), call, 'cubic');
  if (mask !== undefined) {
    const cut = await rawLayer(fitted(opened(sharp, mask), call, 'nearest').ensureAlpha());
    cover.composite([...(caption === undefined ? [] : [caption]), { ...cut, blend: 'dest-out' }]);
  }
  const side = Math.max(1, Math.floor(Math.min(width, height) / 10));
  const layers: (OverlayOptions | undefined)[] = [await rawLayer(cover)];
  // One after the other: together they would take every thread that the process has, and the memory of all.
  for (const [at, image] of call.references.slice(1, Math.floor(width / side)).entries()) {
    const small = opened(sharp, image).resize(side, side, { fit: 'cover' }).ensureAlpha();
    layers.push({ ...(await rawLayer(small)), left: at * side, top: 0 });
  }
  return [...layers, mask === undefined ? caption : undefined];
};

/** Clears everything outside an ellipse. */
const plateCut = ({ width, height }: DrawingCall): OverlayOptions => ({
  input: Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><ellipse cx="50%" cy="50%" rx="48%" ry="48%"/></svg>`,
  ),
  blend: 'dest-in',
});

const fitted = (
  image: Sharp,
  { width, height }: DrawingCall,
  kernel: 'cubic' | 'lanczos3' | 'nearest',
): Sharp => image.resize({ width, height, fit: kernel === 'cubic' ? 'fill' : 'cover', kernel });

const opened = (sharp: SharpModule, { bytes }: Picture): Sharp =>
  sharp(bytes, { limitInputPixels: mostInputPixels }).toColourspace('srgb');

const rawLayer = async (image: Sharp): Promise<OverlayOptions> => {
  try {
    const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
    return { input: data, raw: { width: info.width, height: info.height, channels: info.channels } };
  } catch (cause) {
    throw unreadable(cause);
  }
};

const rawOf = ({ width, height }: Bitmap): SharpOptions => ({ raw: { width, height, channels: 4 } });

const unreadable = (cause: unknown) => fail('invalid_request', 'An input image cannot be read', { cause });

const encoded = (picture: Sharp, { outputFormat, outputCompression }: DrawingCall): Sharp => {
  const quality = Math.max(1, outputCompression ?? 90);
  switch (outputFormat) {
    case 'jpeg':
      return picture.jpeg({ quality });
    case 'webp':
      return picture.webp({ quality });
    case 'png':
      return picture.png({ compressionLevel: Math.round((outputCompression ?? 50) * 0.09) });
  }
};
