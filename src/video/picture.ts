/** Resolves size, aspect ratio and resolution of a video request; 400 names the field. */
import { fail } from '../errors.ts';
import type { VideoSpec } from './spec.ts';

interface PictureWish {
  readonly size?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly resolution?: string | undefined;
}

export interface Picture {
  readonly size: string;
  readonly width: number;
  readonly height: number;
  readonly aspectRatio: string;
  readonly resolution: string;
  readonly enlarged: boolean;
}

export const readPicture = (spec: VideoSpec, wish: PictureWish): Picture => {
  const pictures = allPictures(spec);
  const [usual] = pictures;
  if (usual === undefined) throw fail('internal', 'The model has no sizes');
  checkOneOf('resolution', wish.resolution, Object.keys(spec.resolutions));
  checkOneOf('aspect_ratio', wish.aspect_ratio, [...new Set(pictures.map((one) => one.aspectRatio))]);
  if (wish.size !== undefined) return bySize(pictures, wish, wish.size);
  const ratio = wish.aspect_ratio ?? usual.aspectRatio;
  const resolution = wish.resolution ?? usual.resolution;
  return pictures.find((one) => one.aspectRatio === ratio && one.resolution === resolution) ?? usual;
};

const bySize = (pictures: readonly Picture[], wish: PictureWish, size: string): Picture => {
  const picture = pictures.find((one) => one.size === size);
  if (picture === undefined)
    throw fail('invalid_request', `size must be one of ${pictures.map((one) => one.size).join(', ')}`);
  for (const [field, asked, own] of [
    ['aspect_ratio', wish.aspect_ratio, picture.aspectRatio],
    ['resolution', wish.resolution, picture.resolution],
  ] as const)
    if (asked !== undefined && asked !== own)
      throw fail('invalid_request', `size ${size} has ${field} ${own} and does not agree with ${asked}`);
  return picture;
};

const allPictures = ({ resolutions }: VideoSpec): readonly Picture[] =>
  Object.entries(resolutions).flatMap(([resolution, { sizes, enlarged = false }]) =>
    Object.entries(sizes).map(([aspectRatio, size]) => {
      const [width = 0, height = 0] = size.split('x').map(Number);
      return { size, width, height, aspectRatio, resolution, enlarged };
    }),
  );

const checkOneOf = (field: string, value: string | undefined, allowed: readonly string[]): void => {
  if (value !== undefined && !allowed.includes(value))
    throw fail(
      'invalid_request',
      `${field} must be one of ${allowed.map((word) => JSON.stringify(word)).join(', ')}`,
    );
};
