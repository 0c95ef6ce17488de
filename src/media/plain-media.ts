/** The bytes of a file in; media data out, whose base64 is made on first use. */
import type { Base64, MediaData } from '../ports/media.ts';
import { Base64Writer } from './base64-writer.ts';
import { headLength, mediaTypeOf } from './media-type.ts';

/** The bytes tell the type; where they do not, `declared` does. */
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
