/** Reads the header of a data URI: its media type, and where its base64 begins. */
import type { Base64 } from '../ports/media.ts';
import { textOf } from './base64.ts';

interface DataUriHeader {
  /** Lower-case and without parameters; undefined when the URI names none. */
  readonly mediaType: string | undefined;
  /** Characters before the base64. */
  readonly length: number;
}

/** Media type and parameters together; nobody writes more. */
const longestHeader = 512;

export const isDataUri = (url: Base64): boolean => textOf(url, 0, 5).toLowerCase() === 'data:';

/** Undefined for anything but a data URI that says it is base64. */
export const dataUriHeader = (url: Base64): DataUriHeader | undefined => {
  if (!isDataUri(url)) return undefined;
  const head = textOf(url, 0, longestHeader);
  const comma = head.indexOf(',');
  const [mediaType = '', ...parameters] = head.slice(5, Math.max(5, comma)).toLowerCase().split(';');
  if (comma < 0 || parameters.at(-1)?.trim() !== 'base64') return undefined;
  return { mediaType: declaredType(mediaType), length: comma + 1 };
};

/** `image/png` of `Image/PNG; charset=…`; undefined for what is no media type. */
export const declaredType = (value: string): string | undefined => {
  const type = (value.split(';', 1)[0] ?? '').trim().toLowerCase();
  return /^[a-z0-9][a-z0-9.+-]{0,63}\/[a-z0-9][a-z0-9.+-]{0,95}$/.test(type) ? type : undefined;
};
