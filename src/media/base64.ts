/** Checks, decodes and writes base64 in the standard alphabet, long texts piece by piece. */
import { setImmediate as nextTick } from 'node:timers/promises';
import type { Base64 } from '../ports/media.ts';

const equalsSign = 0x3d;

const alphabet = new Uint8Array(256);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/') {
  alphabet[letter.charCodeAt(0)] = 1;
}

/** Of valid base64; a guess for anything else. */
export const decodedSize = (base64: Base64): number =>
  Math.max(0, Math.floor(base64.length / 4) * 3 - paddingOf(base64));

export const isBase64 = (base64: Base64): boolean =>
  base64.length % 4 === 0 && (typeof base64 === 'string' ? isText(base64) : isAscii(base64));

/** Without line breaks and with its padding, as engines need it; undefined for what is no base64. */
export const normalBase64 = <Text extends Base64>(base64: Text): Text | undefined => {
  if (isBase64(base64)) return base64;
  const whole = (typeof base64 === 'string' ? normalText(base64) : normalBytes(base64)) as Text;
  return isBase64(whole) ? whole : undefined;
};

const normalText = (text: string): string => {
  const joined = text.replace(/[\r\n]+/g, '');
  return joined + '='.repeat(missingPadding(joined));
};

const normalBytes = (bytes: Uint8Array): Uint8Array => {
  const joined = Buffer.allocUnsafeSlow(bytes.length + 2);
  let length = 0;
  for (let start = 0; start < bytes.length; ) {
    const end = lineEnd(bytes, start);
    joined.set(bytes.subarray(start, end), length);
    length += end - start;
    for (start = end; bytes[start] === lineFeed || bytes[start] === carriageReturn; ) start++;
  }
  const padding = missingPadding(joined.subarray(0, length));
  joined.fill(equalsSign, length, length + padding);
  return joined.subarray(0, length + padding);
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

const lineEnd = (bytes: Uint8Array, start: number): number => {
  const feed = bytes.indexOf(lineFeed, start);
  const end = feed < 0 ? bytes.length : feed;
  return end > start && bytes[end - 1] === carriageReturn ? end - 1 : end;
};

/** None where some is there already, or where no padding would help. */
const missingPadding = (base64: Base64): number => {
  const rest = base64.length % 4;
  return rest < 2 || isPadding(base64, base64.length - 1) ? 0 : 4 - rest;
};

/** The first bytes, as many as are asked for. */
export const decodeHead = (base64: Base64, count: number): Buffer =>
  Buffer.from(textOf(base64, 0, Math.ceil(count / 3) * 4), 'base64');

export const decode = (base64: Base64): Buffer => Buffer.from(textOf(base64), 'base64');

/** Characters decoded in one tick, a multiple of four: a few tenths of a millisecond. */
const perTick = 256 * 1024;

/** Decodes long base64 without blocking the event loop; rejects with the signal's reason once it is aborted. */
export const decodeInTicks = async (base64: Base64, signal: AbortSignal): Promise<Buffer> => {
  if (base64.length <= perTick) return decode(base64);
  const bytes = Buffer.allocUnsafeSlow(decodedSize(base64));
  let written = 0;
  for (let at = 0; at < base64.length; at += perTick) {
    if (at > 0) await nextTick();
    signal.throwIfAborted();
    written += bytes.write(textOf(base64, at, at + perTick), written, 'base64');
  }
  return bytes.subarray(0, written);
};

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Characters from `start` to `end` as a string. */
export const textOf = (base64: Base64, start = 0, end = base64.length): string =>
  typeof base64 === 'string'
    ? base64.slice(start, end)
    : asBuffer(base64.subarray(start, end)).toString('latin1');

const isPadding = (base64: Base64, at: number): boolean =>
  (typeof base64 === 'string' ? base64.charCodeAt(at) : base64[at]) === equalsSign;

/** The decoder skips what it does not know, so that anything odd makes fewer bytes; but it also takes the other alphabet. */
const isText = (text: string): boolean =>
  Buffer.from(text, 'base64').length === decodedSize(text) && !text.includes('-') && !text.includes('_');

const isAscii = (bytes: Uint8Array): boolean => {
  const end = bytes.length - paddingOf(bytes);
  let valid = 1;
  for (let at = 0; at < end; at++) valid &= alphabet[bytes[at] as number] as number;
  return valid === 1;
};

const paddingOf = (base64: Base64): number =>
  isPadding(base64, base64.length - 1) ? (isPadding(base64, base64.length - 2) ? 2 : 1) : 0;

const initialBytes = 64 * 1024;
/** Up to this length a string is as cheap as its bytes, and easier to use. */
const longestString = 64 * 1024;

/** Encodes bytes as they arrive, so that no tick encodes the whole. */
export class Base64Writer {
  readonly #maxBytes: number;
  #target: Buffer;
  #written = 0;
  /** One or two bytes that wait for the rest of their group of three. */
  #rest: Buffer = Buffer.alloc(0);

  /** `expected` is the number of bytes announced, if any was. Memory that is not written to is not taken. */
  constructor(maxBytes: number, expected: number | undefined) {
    this.#maxBytes = maxBytes;
    this.#target = Buffer.allocUnsafeSlow(encodedLength(Math.min(maxBytes, expected ?? initialBytes)));
  }

  write(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    this.#encode(bytes.subarray(0, whole));
    this.#rest = Buffer.from(bytes.subarray(whole));
  }

  end(): Base64 {
    this.#encode(this.#rest);
    const ascii = this.#target.subarray(0, this.#written);
    return ascii.length > longestString ? ascii : ascii.toString('latin1');
  }

  #encode(bytes: Buffer): void {
    const needed = this.#written + encodedLength(bytes.length);
    if (needed > this.#target.length) this.#grow();
    this.#written += this.#target.write(bytes.toString('base64'), this.#written, 'latin1');
  }

  /** Straight to the most there can be: growing in steps would copy everything again at each. */
  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(encodedLength(this.#maxBytes));
    this.#target.copy(larger, 0, 0, this.#written);
    this.#target = larger;
  }
}

const encodedLength = (bytes: number): number => Math.ceil(bytes / 3) * 4;
