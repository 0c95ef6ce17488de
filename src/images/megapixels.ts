/** Computes billed megapixels and their cost as exact decimals. */
import type { ImageCapabilities } from '../../schemas/image-capabilities.ts';
import { formatScaled, multiply, toScaled } from '../helpers/decimal.ts';

export const billedMegapixels = (
  pixels: number,
  steps: number | undefined,
  scaling: ImageCapabilities['step_scaling'],
): string => {
  const megapixels = { units: BigInt(pixels), scale: 6 };
  if (scaling === undefined || steps === undefined) return formatScaled(megapixels);
  return formatScaled(multiply(megapixels, multiply(toScaled(scaling.per_step), toScaled(steps))));
};
