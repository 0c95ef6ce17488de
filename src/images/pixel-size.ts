/** Parses and formats `WxH` sizes, and checks them against a model's rules. */
import type { ImageParameters } from '../../schemas/image-capabilities.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

const pattern = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

export const parseSize = (text: string): Size | undefined => {
  const [, width, height] = pattern.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
};

export const sizeText = ({ width, height }: Size): string => `${width}x${height}`;

/** Goes on from the field's name; undefined when the size is fine. */
export const sizeFault = (
  { width, height }: Size,
  { multiple_of: step, min_area: least, max_area: most, max_ratio: ratio }: ImageParameters['size'],
): string | undefined => {
  if (width % step !== 0 || height % step !== 0) return `must have sides that are multiples of ${step}`;
  const area = width * height;
  if (area < least || area > most) return `must have an area of ${least} to ${most} pixels, not ${area}`;
  if (Math.max(width, height) > ratio * Math.min(width, height))
    return `must have a longer side of at most ${ratio} times the shorter`;
  return undefined;
};

/** Whether the sides stand in the ratio `a:b`, exactly. */
export const hasRatio = ({ width, height }: Size, ratio: string): boolean => {
  const [a = 0, b = 0] = ratio.split(':').map((side) => Math.round(Number(side) * 10));
  return width * b === height * a;
};
