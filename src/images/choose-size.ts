/** Chooses the one size that a request means by its five size fields; 400 where they disagree. */
import type { ImageParameters } from '../../schemas/image-capabilities.ts';
import { type ApiError, fail } from '../errors.ts';
import { hasRatio, parseSize, type Size, sizeFault, sizeText } from './pixel-size.ts';

interface SizeWishes {
  /** `WxH`, a resolution's label, or `auto`, which says nothing. */
  readonly size?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** One of the model's own. */
  readonly aspect_ratio?: string | undefined;
  readonly resolution?: string | undefined;
}

export const chooseSize = (wishes: SizeWishes, parameters: ImageParameters): Size => {
  const explicit = explicitSize(wishes, parameters);
  const resolution = resolutionOf(wishes, parameters);
  const { aspect_ratio: ratio } = wishes;
  if (explicit === undefined) return tableSize(resolution, ratio, parameters);
  checkAgreement(explicit, resolution, ratio, parameters);
  return explicit;
};

const explicitSize = ({ size, width, height }: SizeWishes, parameters: ImageParameters): Size | undefined => {
  if (width !== undefined && height === undefined) throw refuse('height is required beside width');
  if (height !== undefined && width === undefined) throw refuse('width is required beside height');
  const sides = width === undefined || height === undefined ? undefined : { width, height };
  const written = size === undefined ? undefined : parseSize(size);
  if (sides !== undefined && written !== undefined && sizeText(sides) !== sizeText(written))
    throw refuse(`width and height must agree with size ${sizeText(written)}`);
  const explicit = written ?? sides;
  const fault = explicit && sizeFault(explicit, parameters.size);
  if (fault !== undefined) throw refuse(`${written === undefined ? 'width and height' : 'size'} ${fault}`);
  return explicit;
};

/** A label under `size` is a resolution. */
const resolutionOf = ({ size, resolution }: SizeWishes, parameters: ImageParameters): string | undefined => {
  if (size === undefined || size === 'auto' || parseSize(size) !== undefined) return resolution;
  const labels = parameters.resolution?.values ?? [];
  if (!labels.includes(size))
    throw refuse(
      `size must be WIDTHxHEIGHT, such as ${parameters.size.default}, or ${['auto', ...labels].join(', ')}`,
    );
  if (resolution !== undefined && resolution !== size)
    throw refuse(`resolution must agree with size ${size}`);
  return size;
};

const tableSize = (
  resolution: string | undefined,
  ratio: string | undefined,
  { size, resolution: resolutions, aspect_ratio: ratios }: ImageParameters,
): Size => {
  const row = resolutions?.sizes[resolution ?? resolutions.default];
  const chosen =
    resolution === undefined && ratio === undefined ? undefined : row?.[ratio ?? ratios?.default ?? ''];
  // Sizes of a valid spec can be read, and its table is whole.
  return parseSize(chosen ?? size.default) ?? { width: 0, height: 0 };
};

/** Sizes of the table have the ratio they stand under, though the last pixels may say otherwise. */
const checkAgreement = (
  size: Size,
  resolution: string | undefined,
  ratio: string | undefined,
  { resolution: resolutions }: ImageParameters,
): void => {
  const text = sizeText(size);
  const isListed = (label: string): boolean => {
    const row = resolutions?.sizes[label] ?? {};
    return ratio === undefined ? Object.values(row).includes(text) : row[ratio] === text;
  };
  if (ratio !== undefined && !hasRatio(size, ratio) && resolutions?.values.some(isListed) !== true)
    throw refuse(`aspect_ratio ${ratio} does not agree with size ${text}`);
  if (resolution !== undefined && !isListed(resolution))
    throw refuse(`resolution ${resolution} does not agree with size ${text}`);
};

const refuse = (message: string): ApiError => fail('invalid_request', message);
