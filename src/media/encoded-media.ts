/** Base64 that a request carried, or that a fetched body was turned into, in; media data out, or the error that names the field. */
import { fail } from '../errors.ts';
import type { Base64, MediaData, MediaRule } from '../ports/media.ts';
import { decode, decodedSize, decodeHead, isBase64 } from './base64.ts';
import { headLength, mediaTypeOf } from './media-type.ts';

/** Characters that arrived as bytes were checked where they were told from text: on the thread that parsed the request. */
export const encodedMedia = (base64: Base64, declared: string | undefined, rule: MediaRule): MediaData => {
  if (base64.length === 0) throw fail('invalid_request', `${rule.field} is empty`);
  const size = decodedSize(base64);
  if (size > rule.maxBytes) throw tooLarge(rule);
  if (typeof base64 === 'string' && !isBase64(base64)) {
    throw fail('invalid_request', `${rule.field} is not valid base64`);
  }
  return new EncodedMedia(base64, size, mediaTypeOf(decodeHead(base64, headLength), declared));
};

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
