/** What media a video request may carry: types, sizes and lengths of each kind. */
import type { RenderInput } from '../ports/engines/render.ts';

export interface MediaLimit {
  /** Types as the bytes tell them. */
  readonly types: readonly string[];
  readonly maxBytes: number;
  /** The same in words. */
  readonly described: string;
  /** Of a still picture. */
  readonly maxPixels?: number;
  /** Seconds, of what has a length. */
  readonly seconds?: { readonly min: number; readonly max: number };
}

const mebibyte = 1024 * 1024;
const seconds = { min: 2, max: 15 };

export const mediaLimits: Readonly<Record<RenderInput['kind'], MediaLimit>> = {
  image: {
    types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
    maxBytes: 30 * mebibyte,
    described: 'a JPG, PNG, WEBP, HEIC or HEIF image',
    // Above what cameras of phones take, and what is taken to be edited.
    maxPixels: 2 ** 26,
  },
  video: {
    types: ['video/mp4', 'video/quicktime'],
    maxBytes: 50 * mebibyte,
    described: 'an MP4 or MOV video',
    seconds,
  },
  audio: {
    types: ['audio/wav', 'audio/mpeg'],
    maxBytes: 15 * mebibyte,
    described: 'a WAV or MP3 clip',
    seconds,
  },
};

/** Encoders pad a clip to whole frames: a length of 15 seconds may be read as a little more. */
export const lengthTolerance = 0.25;
