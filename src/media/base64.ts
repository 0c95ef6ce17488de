/** Base64 in the standard alphabet in; whether it is valid, how many bytes it stands for, and those bytes out. */
import type { Base64 } from '../ports/media.ts';

const equalsSign = 0x3d;

const alphabet = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  alphabet[letter.charCodeAt(0)] = 1;
}

/** Of valid base64; a guess for anything else. */
export const decodedSize = (base64: Base64): number => {
  const { length } = base64;
  const padding = isPadding(base64, length - 1) ? (isPadding(base64, length - 2) ? 2 : 1) : 0;
  return Math.max(0, Math.floor(length / 4) * 3 - padding);
};

export const isBase64 = (base64: Base64): boolean =>
  base64.length % 4 === 0 && (typeof base64 === 'string' ? isText(base64) : isAscii(base64));

/** The first bytes, as many as are asked for. */
export const decodeHead = (base64: Base64, count: number): Buffer => {
  const length = Math.ceil(count / 3) * 4;
  return decode(typeof base64 === 'string' ? base64.slice(0, length) : base64.subarray(0, length));
};

export const decode = (base64: Base64): Buffer =>
  Buffer.from(typeof base64 === 'string' ? base64 : asBuffer(base64).toString('latin1'), 'base64');

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const isPadding = (base64: Base64, at: number): boolean =>
  (typeof base64 === 'string' ? base64.charCodeAt(at) : base64[at]) === equalsSign;

/** The decoder skips what it does not know, so that anything odd makes fewer bytes; but it also takes the other alphabet. */
const isText = (text: string): boolean =>
  Buffer.from(text, 'base64').length === decodedSize(text) && !text.includes('-') && !text.includes('_');

const isAscii = (bytes: Uint8Array): boolean => {
  const end = bytes.length - (bytes.length === 0 ? 0 : paddingOf(bytes));
  let valid = 1;
  for (let at = 0; at < end; at++) valid &= alphabet[bytes[at] as number] as number;
  return valid === 1;
};

const paddingOf = (bytes: Uint8Array): number =>
  isPadding(bytes, bytes.length - 1) ? (isPadding(bytes, bytes.length - 2) ? 2 : 1) : 0;
