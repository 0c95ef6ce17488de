/** Media data held as base64 or as bytes, each converted to the other on first use. */
import { fail } from '../errors.ts';
import type { Base64, MediaData, MediaRule } from '../ports/media.ts';
import { Base64Writer, decode, decodedSize, decodeHead, normalBase64 } from './base64.ts';
import { headLength, mediaTypeOf } from './media-type.ts';

/** Throws an error that names the field. Base64 that comes as bytes was checked on the thread that parsed the request. */
export const encodedMedia = (given: Base64, declared: string | undefined, rule: MediaRule): MediaData => {
  if (given.length === 0) throw fail('invalid_request', `${rule.field} is empty`);
  if (decodedSize(given) > rule.maxBytes + lineBreaksOf(given)) throw tooLarge(rule);
  const base64 = typeof given === 'string' ? normalBase64(given) : given;
  if (base64 === undefined) throw fail('invalid_request', `${rule.field} is not valid base64`);
  const size = decodedSize(base64);
  if (size > rule.maxBytes) throw tooLarge(rule);
  return new EncodedMedia(base64, size, mediaTypeOf(decodeHead(base64, headLength), declared));
};

/** Lines have at least 64 characters: what is too large without its line breaks is not looked at. */
const lineBreaksOf = (base64: Base64): number => (base64.length * 2) / 64;

export const tooLarge = ({ field, maxBytes }: MediaRule) =>
  fail('payload_too_large', `${field} is larger than the limit of ${maxBytes} bytes`);

class EncodedMedia implements MediaData {
  readonly held = 'base64';
  readonly base64: Base64;
  readonly size: number;
  readonly mediaType: string;
  #bytes: Buffer | undefined;

  constructor(base64: Base64, size: number, mediaType: string) {
    this.base64 = base64;
    this.size = size;
    this.mediaType = mediaType;
  }

  get bytes(): Buffer {
    this.#bytes ??= decode(this.base64);
    return this.#bytes;
  }
}

/** The type is read from the bytes, else it is `declared`. */
export const plainMedia = (bytes: Buffer, declared?: string): MediaData =>
  new PlainMedia(bytes, mediaTypeOf(bytes.subarray(0, headLength), declared));

/** Encoded in pieces of this many bytes, a multiple of three: no string of the whole is ever made. */
const piece = 3 * 64 * 1024;

class PlainMedia implements MediaData {
  readonly held = 'bytes';
  readonly bytes: Buffer;
  readonly mediaType: string;
  #base64: Base64 | undefined;

  constructor(bytes: Buffer, mediaType: string) {
    this.bytes = bytes;
    this.mediaType = mediaType;
  }

  get size(): number {
    return this.bytes.length;
  }

  get base64(): Base64 {
    this.#base64 ??= encoded(this.bytes);
    return this.#base64;
  }
}

const encoded = (bytes: Buffer): Base64 => {
  const writer = new Base64Writer(bytes.length, bytes.length);
  for (let at = 0; at < bytes.length; at += piece) writer.write(bytes.subarray(at, at + piece));
  return writer.end();
};
